package site

import (
	"fmt"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// file has a pair for each verdict that is given, of a share that is known to a fiftieth of a percent.
func file(margin float64, pairs map[float64][]compare.Verdict) string {
	out := "machine,margin,budget_s,cost_s,share,known,known_low,known_high,counted,counted_low,counted_high,duration_s,verdict\n"
	for share, all := range pairs {
		apart := 0.0002
		if share == 0 {
			apart = 0
		}
		for i, v := range all {
			out += fmt.Sprintf("AMD,%v,60,2e-05,%v,%[2]v,%v,%v,0,0,0,%d,%s\n", margin, share, share-apart, share+apart, 10*(i+1), v)
		}
	}
	return out
}

// By hand: wrong are "more" of nothing planted, "less" of anything, and "the same" of 3.1 % within 3 %.
func TestWhatIsFalseIsCounted(t *testing.T) {
	const more, same, less, open, none = compare.Dearer, compare.Same, compare.Cheaper, compare.Undecided, compare.Invalid
	all, err := calibrations([]byte(file(0.03, map[float64][]compare.Verdict{0: {same, more, less, open, same}, 0.01: {same, more, less},
		0.031: {same, more, none}})))
	if err != nil || len(all) != 1 || all[0].Title != "AMD, within 3\u00a0%, a budget of 1 min 00 s" ||
		all[0].Caption != "4 of 9 verdicts were false. With nothing planted a request cost 20 µs" {
		t.Fatalf("%q %q, %v", all[0].Title, all[0].Caption, err)
	}
	for i, want := range []string{"0\u00a0% planted|5|the same 2, costs less 1, costs more 1, not decided 1|2|25 s|50 s",
		"1\u00a0% planted|3|costs less 1, costs more 1, the same 1|1|20 s|30 s",
		"3.1\u00a0% planted|3|costs more 1, no verdict 1, the same 1|1|15 s|20 s"} {
		cells := all[0].Rows[i].Cells
		if got := strings.Join(strict.Map(cells, func(c Cell) string { return c.Text }), "|"); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := all[0].Rows[2].Cells[0].Below; !strings.HasPrefix(got, "3.10\u00a0% (3.08 to 3.12) by its steps, ") {
		t.Error(got)
	}
}

func TestWhatCannotBeReadIsNamedByItsLine(t *testing.T) {
	good := file(0.03, map[float64][]compare.Verdict{0: {compare.Same, compare.Same}})
	for _, bad := range []string{"", strings.Replace(good, "20,same", "20,equal", 1), strings.Replace(good, ",20,same", ",long,same", 1)} {
		if _, err := calibrations([]byte(bad)); err == nil || bad != "" && !strings.Contains(err.Error(), "line 3: ") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
