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

func TestAValueHasTheUnitThatItsNameEndsWith(t *testing.T) {
	for _, c := range []struct {
		name string
		v    float64
		want string
	}{
		{"line_rate_bps", 5e8, "500\u00a0Mbit/s"}, {"burst_bytes", 262144, "262\u00a0kB"}, {"slot_s", 0.1, "100\u00a0ms"},
		{"connections", 1000, "1,000"}, {"share", 0.125, "0.125"},
	} {
		if got := Value(c.name, c.v); got != c.want {
			t.Errorf("%s %v: %q, want %q", c.name, c.v, got, c.want)
		}
	}
}

func TestAChosenNumberBelowOneIsAShare(t *testing.T) {
	for v, want := range map[float64]string{0.9: "90\u00a0%", 0.1125: "11.25\u00a0%", 6: "6", 7200: "7,200",
		1.05: "1.05"} {
		if got := Chosen(v); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}
