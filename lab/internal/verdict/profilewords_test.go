package verdict

import (
	"testing"

	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

func TestAmountsOfProfilesAreByTheSecond(t *testing.T) {
	for _, c := range []struct {
		kind   profiles.Kind
		unit   string
		v      float64
		amount string
		table  string
	}{
		{profiles.CPU, "s", 0.9337, "934 ms a second", "933.7 ms/s"},
		{profiles.Block, "s", 31.66, "31.7 s a second", "31.66 s/s"},
		{profiles.Block, "s", 220.04, "220 s a second", "220.0 s/s"},
		{profiles.Block, "s", 12345, "12,300 s a second", "12,345 s/s"},
		{profiles.Block, "count", 0.0294, "0.0294", "0.029"},
		{profiles.Mutex, "s", 2.5e-7, "250 ns a second", "250.0 ns/s"},
		{profiles.Mutex, "s", 0, "0 s a second", "0.000 ns/s"},
		{profiles.Allocs, "B", 1536, "1.54 kB/s", "1.536 kB/s"},
		{profiles.Heap, "B", 1536, "1,540 B", "1,536 B"},
		{profiles.Heap, "B", 10155026, "10.2 MB", "10.16 MB"},
		{profiles.Goroutine, "count", 111, "111", "111.0"},
	} {
		if got := amount(c.kind, c.unit, c.v); got != c.amount {
			t.Errorf("%v %s of a %s profile is %q, want %q", c.v, c.unit, c.kind, got, c.amount)
		}
		s, _ := scaleOf(c.kind, c.unit, c.v)
		if got := onScale(s, c.v, s.Unit); got != c.table {
			t.Errorf("%v %s of a %s profile is %q in a table, want %q", c.v, c.unit, c.kind, got, c.table)
		}
	}
}

func TestSmallerValuesStandOnTheScaleOfTheLargest(t *testing.T) {
	s, words := scaleOf(profiles.CPU, "s", 0.45)
	if s != (profiles.Scale{Factor: 1000, Unit: "ms/s", Digits: 1}) || words != "ms a second" {
		t.Errorf("%+v, %q", s, words)
	}
	if got := onScale(s, 0.00125, ""); got != "1.3" {
		t.Errorf("%q", got)
	}
}

func TestSharesHaveTwoDigitsOrMore(t *testing.T) {
	for share, want := range map[float64]string{
		0: "0.00 %", 0.0000215: "0.00 %", 0.0025: "0.25 %", 0.00949: "0.95 %", 0.0095: "1.0 %", 0.0625: "6.3 %", 0.0994: "9.9 %", 0.0995: "10 %", 0.125: "13 %", 1: "100 %",
	} {
		if got := shareText(share); got != want {
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
		if got := against(c.v, c.than); got != c.want {
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
		if got := changeText(c.before, c.by); got != c.want {
			t.Errorf("%v and %v more is %q, want %q", c.before, c.by, got, c.want)
		}
	}
}

func TestAConditionIsNamedWithTheComparedFactorFirst(t *testing.T) {
	levels := setting.Levels{
		"connections": setting.Int(1000), "index": setting.String("pool"), "prefork": setting.Bool(true), "rps": setting.Bool(false), "block_rate_ns": setting.Int(5),
	}
	if got, want := conditionWords(levels, "index"), "Index pool, block rate ns 5, connections 1,000, prefork yes, RPS no"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := conditionWords(levels, ""), "Block rate ns 5, connections 1,000, index pool, prefork yes, RPS no"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := conditionWords(nil, "index"); got != "All trials" {
		t.Errorf("%q", got)
	}
}

func TestSizesOfFilesAreCountedWhileSmall(t *testing.T) {
	for n, want := range map[int]string{812: "812 B", 99999: "99,999 B", 100000: "100\u00a0kB", 1234567: "1.23\u00a0MB"} {
		if got := sizeText(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}
