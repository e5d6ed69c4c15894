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
