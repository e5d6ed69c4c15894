package stats

import "testing"

func TestEveryWarningHasItsSentence(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range AllWarnings {
		if w.Meaning() == "" || seen[w.Meaning()] {
			t.Errorf("%s: %q", w, w.Meaning())
		}
		seen[w.Meaning()] = true
	}
}
