package derive

import (
	"testing"

	"github.com/line-rate/line-rate/lab/internal/experiment"
)

// The journal's own designs, each of which needs something else.
func TestClaimsAreCountedByWhatTheyNeed(t *testing.T) {
	for _, c := range []struct {
		why    string
		design string
		want   Reach
	}{
		{"loopback", "05-littles-law", Reach{Claims: 4, Here: 4}},
		{"a wire", "11-pipelining-read", Reach{Claims: 2, Here: 2, Wire: 2}},
		{"RPS and RFS are turned, on a wire", "03-rps-rfs", Reach{Claims: 5, Root: 2, Cores: 3}},
		{"one of two claims needs four cores", "01-prefork", Reach{Claims: 2, Here: 1, Cores: 1}},
		{"a second machine, more cores and root", "06-irq-pinning", Reach{Claims: 5, Machines: 5}},
	} {
		x, err := experiment.Load("../../experiments/" + c.design + ".toml")
		if err != nil {
			t.Fatal(err)
		}
		if got := reach([]*experiment.Experiment{x}); got != c.want {
			t.Errorf("%s, %s: %+v, want %+v", c.why, c.design, got, c.want)
		}
		if got := reach([]*experiment.Experiment{x, x}); got.Claims != 2*c.want.Claims {
			t.Errorf("two of %s: %+v", c.design, got)
		}
	}
}
