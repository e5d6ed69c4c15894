package site

import (
	"fmt"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/compare"
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
	if err != nil || len(all) != 1 || all[0].Pairs != 11 || all[0].Wrong != 4 || all[0].Asked != "within 3\u00a0%, in 1 min 00 s at most" {
		t.Fatalf("%+v, %v", all, err)
	}
	for i, want := range []string{"0\u00a0% 0\u00a0% 5 2 25 s 50 s", "1\u00a0% 1.00\u00a0% (0.98 to 1.02) 3 1 20 s 30 s",
		"3.1\u00a0% 3.10\u00a0% (3.08 to 3.12) 3 1 15 s 20 s"} {
		r := all[0].Rows[i]
		if got := fmt.Sprintln(r.Share, r.Known, r.Pairs, r.Wrong, r.Median, r.Worst); strings.TrimSpace(got) != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if v := all[0].Rows[0].Verdicts; v[same] != 2 || v[more] != 1 || v[less] != 1 || v[open] != 1 {
		t.Errorf("%v", v)
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
