package endtoend

import (
	"strings"
	"testing"
)

// The checkouts of all hosts are at one commit, or the lab would refuse every run below.
func TestEveryHostHasTheSameCheckout(t *testing.T) {
	r := up(t, nil, "--clients", "2")
	seen := map[string]bool{}
	for _, name := range r.Names {
		out, err := r.On(name, "git", "-C", r.Root(name), "rev-parse", "HEAD").Output()
		if err != nil {
			t.Fatal(name, err)
		}
		seen[strings.TrimSpace(string(out))] = true
	}
	if len(seen) != 1 {
		t.Errorf("commits: %v", seen)
	}
	r.clean()
}
