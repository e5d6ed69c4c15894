package verdict

import (
	"maps"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// profiling has what the kinds of claims about profiles have in common.
type profiling struct{ plain }

func (profiling) recorded(c experiment.Claim, t results.Trial) bool {
	_, ok := t.Profile(profile.Kind(c.Profile))
	return ok
}

// shareOf is the share, in a trial's own profile, of the package or work that a
// claim is about. A profile lists everything that it has, so what is missing has
// a share of 0.
func shareOf(c experiment.Claim, t results.Trial) float64 {
	p, _ := t.Profile(profile.Kind(c.Profile))
	if c.Work != "" {
		return p.Work[c.Work]
	}
	return p.Packages[c.Package]
}

// figures gives the blocks of a claim about a figure of each trial, and that of all trials in them. Trials are not
// averaged, so that a long window does not hide a short one.
func (rec *record) figures(c experiment.Claim, figure func(experiment.Claim, results.Trial) float64) (f finding,
	all []float64) {
	f = finding{seen: rec.look(c, rec.begun(rec.conds))}
	for _, b := range f.seen.blocks {
		if b.refused {
			continue
		}
		for _, t := range rec.about(c, b) {
			all = append(all, figure(c, t))
		}
	}
	return f, all
}

// The least total of a profile from which shares are taken: a tenth of a core,
// or of a waiting goroutine, through the window; a megabyte of heap; ten
// goroutines. Even a large share of less is next to nothing of what the server
// does.
const (
	leastBusy       = 0.1
	leastBytes      = 1e6
	leastGoroutines = 10
)

// nextToNothing tells whether a profile's total is too small to take shares of.
func nextToNothing(p profile.Profile) bool {
	least, have := leastBytes, p.Total
	switch p.Unit {
	case "s":
		if p.DurationS == 0 {
			return false
		}
		least, have = leastBusy, p.Total/p.DurationS
	case "count":
		least = leastGoroutines
	}
	return have < least && (have != 0 || len(p.Packages) == 0)
}

// profilesOf gives the medians of a condition's profiles, by kind, with the run's files.
func profilesOf(c results.Condition, trials []results.Trial) []Profiled {
	var out []Profiled
	for _, kind := range profile.Kinds() {
		var of []profile.Profile
		for _, t := range trials {
			if p, ok := t.Profile(kind); ok {
				of = append(of, p)
			}
		}
		if len(of) == 0 {
			continue
		}
		median := func(get func(profile.Profile) float64) float64 {
			return words.Digits(stats.Median(strict.Map(of, get)))
		}
		m := profile.Profile{
			Kind: kind, Unit: of[0].Unit,
			Total:     median(func(p profile.Profile) float64 { return p.Total }),
			Events:    median(func(p profile.Profile) float64 { return p.Events }),
			Stacks:    int(median(func(p profile.Profile) float64 { return float64(p.Stacks) })),
			DurationS: median(func(p profile.Profile) float64 { return p.DurationS }),
			Work:      map[string]float64{}, Packages: map[string]float64{},
		}
		for _, p := range of { // what one of them has
			maps.Copy(m.Work, p.Work)
			maps.Copy(m.Packages, p.Packages)
		}
		for name := range m.Work {
			m.Work[name] = median(func(p profile.Profile) float64 { return p.Work[name] })
		}
		for name := range m.Packages {
			m.Packages[name] = median(func(p profile.Profile) float64 { return p.Packages[name] })
		}
		p := Profiled{Profile: m}
		if i := slices.IndexFunc(c.Profiles, func(r results.RawProfile) bool { return r.Kind == kind }); i >= 0 {
			p.Raw = &RawFile{File: c.Profiles[i].File, SHA256: c.Profiles[i].SHA256, Trials: c.Profiles[i].Trials}
		}
		out = append(out, p)
	}
	return out
}
