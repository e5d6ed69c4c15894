package words

import "testing"

func TestANumberOfThings(t *testing.T) {
	for want, got := range map[string]string{
		"1 block": Count(1, "block"), "0 blocks": Count(0, "block"), "1,200 blocks": Count(1200, "block"),
		"1 process": Count(1, "process", "processes"), "2 processes": Count(2, "process", "processes"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
