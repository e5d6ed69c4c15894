package pages

import (
	"testing"

	"github.com/line-rate/line-rate/lab/internal/verdict"
)

func TestEveryVerdictHasItsSentence(t *testing.T) {
	rules := Rules()
	seen := map[string]bool{}
	for _, v := range []verdict.Verdict{verdict.Confirmed, verdict.Refuted, verdict.Open, verdict.NotApplicable} {
		if s := rules.Verdicts[v]; s == "" || s != v.Meaning() || seen[s] {
			t.Errorf("%s: %q", v, s)
		}
		seen[rules.Verdicts[v]] = true
	}
	if len(rules.Verdicts) != 4 || len(rules.Order) != 4 || verdict.Verdict("perhaps").Meaning() != "" {
		t.Errorf("%v", rules.Verdicts)
	}
	if rules.MinVisits != 6 || rules.LeastVisits != 7 || rules.Confidence != 0.95 || rules.WireSaturated != 0.9 || rules.CPUSaturated != 0.9 {
		t.Errorf("%+v; the design gives 6, 8, 0.95 and nine tenths", rules)
	}
}
