package words

import (
	"testing"
	"time"
)

func TestSharesHaveTwoDigitsOrMore(t *testing.T) {
	for share, want := range map[float64]string{
		0: "0.00 %", 0.0000215: "0.00 %", 0.0025: "0.25 %", 0.00949: "0.95 %", 0.0095: "1.0 %", 0.0625: "6.3 %",
		0.0994: "9.9 %", 0.0995: "10 %", 0.125: "13 %", 1: "100 %",
	} {
		if got := Share(share); got != want {
			t.Errorf("%v is %q, want %q", share, got, want)
		}
	}
}

func TestOneTotalAgainstAnother(t *testing.T) {
	for _, c := range []struct {
		v, than float64
		want    string
	}{
		{1, 113.2, "113 times less than"},
		{9.94, 1, "9.9 times more than"},
		{9.95, 1, "10 times more than"},
		{2, 1, "2.0 times more than"},
		{1, 1.99, "50 % less than"},
		{1.02, 1, "2 % more than"},
		{0.997, 1, "within 1 % of"},
		{1, 1, "within 1 % of"},
	} {
		if got := Against(c.v, c.than); got != c.want {
			t.Errorf("%v is %q %v, want %q", c.v, got, c.than, c.want)
		}
	}
}

func TestChangesAreRelativeToWhatWasBefore(t *testing.T) {
	for _, c := range []struct {
		before, by float64
		want       string
	}{
		{2, -1.96, "−98 %"}, {2, 0.24, "+12 %"}, {2, 0, "0 %"}, {1, -0.004, "0 %"}, {1, 0.004, "0 %"},
		{1, -1, "−100 %"}, {1, -0.9999, "−99 %"}, {1, -0.995, "−99 %"},
		{1, 8.99, "+899 %"}, {1, 9, "+900 %"}, {1, 1234.5, "+123,450 %"},
	} {
		if got := Change(c.before, c.by); got != c.want {
			t.Errorf("%v and %v more is %q, want %q", c.before, c.by, got, c.want)
		}
	}
}

func TestSizesOfFilesAreCountedWhileSmall(t *testing.T) {
	for n, want := range map[int]string{812: "812 B", 99999: "99,999 B", 100000: "100\u00a0kB", 1234567: "1.23\u00a0MB"} {
		if got := Size(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

func TestDurations(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", 400 * time.Millisecond: "0 s", 600 * time.Millisecond: "1 s", 59 * time.Second: "59 s",
		59*time.Second + 700*time.Millisecond: "1 min 00 s", 61 * time.Second: "1 min 01 s", time.Hour: "60 min 00 s",
	} {
		if got := Duration(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}
