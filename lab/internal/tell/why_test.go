package tell

import (
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/compare"
)

// The same figures, in one unit and to one place, wherever they are told; ends are rounded outwards.
func TestKindsOfWorkAreATableForEachComparison(t *testing.T) {
	o := outcome()
	o.Why = &compare.Why{Source: "perf", Rounds: 7, WindowS: 1, Comparisons: []compare.Reasons{{Name: "b", Base: "a",
		Says: "most of it",
		Kinds: []compare.Reason{
			{Kind: "system call: write", Base: 5e-6, Other: 8.9e-6, Difference: 3.9e-6, Low: 3.5014e-6, High: 4.1001e-6, Share: 0.93},
			{Kind: "own code", Base: 7e-6, Other: 6.9e-6, Difference: -0.1e-6, Low: -0.2e-6, High: 1e-9}},
		All: compare.Reason{Kind: "all", Base: 12e-6, Other: 16.2e-6, Difference: 4.2e-6, Low: 4e-6, High: 4.5e-6}}}}
	all := Tables(o)
	got := strings.Join(all[len(all)-1].lines(), "\n")
	want := `Why b differs from a: most of it
  CPU a request, µs   a      b      difference             share of it
  system call: write  5.00   8.90   3.90 (3.50 to 4.11)    93 %
  own code            7.00   6.90   −0.10 (−0.20 to 0.01)  –
  all                 12.00  16.20  4.20 (4.00 to 4.50)    –`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	text, err := Markdown(o)
	for _, cell := range append(all[len(all)-1].Rows[0][:3], "Why b differs from a", "most of it") {
		if !strings.Contains(strings.ReplaceAll(string(text), "\u00a0", " "), cell) {
			t.Errorf("no %q, %v", cell, err)
		}
	}
}
