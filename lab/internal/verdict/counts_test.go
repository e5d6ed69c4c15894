package verdict

import (
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/verdict/sample"
)

func TestCountClaims(t *testing.T) {
	exact := func(ls setting.Levels, _ int) sample.Figures {
		n, _ := ls[setting.Workers].Int()
		return sample.Figures{"workers": float64(n), "processes": float64(n + 1)}
	}
	for _, c := range []struct {
		name, claim string
		set         func(*results.File)
		want        Verdict
		says        string
	}{
		{"exact", sample.AsMany, func(*results.File) {}, Reproduced, "exact in all of 12 trials"},
		{"exact, one more", sample.OneMore, func(*results.File) {}, Reproduced, "exact in all of 12 trials"},
		{"one off in one trial", sample.AsMany, func(r *results.File) { r.Trials[11].Metrics["workers"] = 3 }, Refuted,
			"where workers is 2, the count of workers was 3, not 2"},
		{"a fraction off", sample.AsMany, func(r *results.File) { r.Trials[0].Metrics["workers"] = 1.5 }, Refuted,
			"where workers is 1, the count of workers was 1.5, not 1"},
		{"the master missing", sample.OneMore, func(r *results.File) { r.Trials[0].Metrics["processes"] = 1 }, Refuted,
			"where workers is 1, the count of processes was 1, not 2"},
		{"an invalid trial that is off", sample.AsMany, func(r *results.File) {
			again := r.Trials[0]
			r.Trials[0].Metrics = sample.Figures{"workers": 7}
			sample.Spoil(&r.Trials[0])
			r.Trials = append(r.Trials, again)
		}, Reproduced, "exact in all of 12 trials"},
		{"one trial without the figure", sample.AsMany, func(r *results.File) { delete(r.Trials[0].Metrics, "workers") },
			Inconclusive, "only 5 of 6 blocks can tell"},
		// Without the setting's level there is nothing to compare the count with, so
		// it is not exact.
		{"the setting is nowhere recorded", sample.AsMany, func(r *results.File) {
			for i, c := range r.Conditions {
				r.Conditions[i].Levels = setting.Levels{setting.Connections: c.Levels[setting.Workers]}
			}
		}, NotApplicable, "workers"},
	} {
		x := sample.Design(t, "", c.claim)
		r := sample.Run(x, 6, exact)
		c.set(r)
		if got := one(t, x, r, sample.Machine); got.Verdict != c.want || !strings.Contains(got.Reason, c.says) {
			t.Errorf("%s: %s (%s), want %s (%s)", c.name, got.Verdict, got.Reason, c.want, c.says)
		}
	}
	// Or with a number.
	for plus, want := range map[string]Verdict{`plus = 100`: Reproduced, `plus = 99`: Refuted, `plus = 0`: Refuted} {
		x := sample.Design(t, "", strings.ReplaceAll(sample.AsMany, `equals = "workers"`, plus))
		r := sample.Run(x, 6, func(setting.Levels, int) sample.Figures { return sample.Figures{"workers": 100} })
		if got := one(t, x, r, sample.Machine); got.Verdict != want {
			t.Errorf("%q: %s (%s)", plus, got.Verdict, got.Reason)
		}
	}
	// A count may also be compared with a setting that is the same in every trial.
	x := sample.Design(t, "", strings.ReplaceAll(sample.AsMany, `equals = "workers"`, `equals = "connections"`))
	r := sample.Run(x, 6, func(setting.Levels, int) sample.Figures { return sample.Figures{"workers": 100} })
	if got := one(t, x, r, sample.Machine); got.Verdict != Reproduced {
		t.Errorf("a fixed setting: %s (%s)", got.Verdict, got.Reason)
	}
}
