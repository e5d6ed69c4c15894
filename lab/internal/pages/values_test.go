package pages

import (
	"testing"

	"github.com/line-rate/line-rate/lab/internal/setting"
)

func TestALevelIsShownWithTheUnitOfItsName(t *testing.T) {
	for name, c := range map[string]struct {
		level setting.Level
		want  string
	}{"route": {setting.String("/read"), "/read"}, "prefork": {setting.Bool(true), "yes"},
		"rate": {setting.Int(16000), "16,000"}, "event_bytes": {setting.Int(256), "256\u00a0B"}} {
		if got := cell(name, c.level); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
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
		if got := amount(c.name, c.v); got != c.want {
			t.Errorf("%s %v: %q, want %q", c.name, c.v, got, c.want)
		}
	}
}

func TestAChosenNumberBelowOneIsAShare(t *testing.T) {
	for v, want := range map[float64]string{0.9: "90\u00a0%", 0.1125: "11.25\u00a0%", 6: "6", 7200: "7,200",
		1.05: "1.05"} {
		if got := chosen(v); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}
