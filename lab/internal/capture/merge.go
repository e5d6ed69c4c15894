package capture

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/pprof/profile"

	"github.com/line-rate/line-rate/lab/internal/profiles"
)

// counted is what a kind counts beside its own sample type; the two describe the window or its
// moment. Memory profiles have two others, which are dropped: heap also has allocations since the
// process began; allocs also has the growth of live memory in the window, which is negative where
// older memory was collected.
var counted = map[profiles.Kind]string{profiles.CPU: "samples", profiles.Mutex: "contentions",
	profiles.Block: "contentions", profiles.Heap: "inuse_objects", profiles.Allocs: "alloc_objects"}

// merge merges the parts into a set, and checks that no sample was lost or
// counted twice.
func merge(parts []part, processes int, window time.Duration) (*Set, error) {
	set := &Set{Processes: processes, Window: window, Merged: map[profiles.Kind]*profile.Profile{},
		Own: map[profiles.Kind]int64{}}
	var latest time.Time
	for _, k := range profiles.Kinds() {
		var of []*profile.Profile
		var total, duration int64
		for _, p := range parts {
			if p.kind != k {
				continue
			}
			own, err := p.clean()
			var sum int64
			if err == nil {
				sum, err = profiles.Total(p.Profile, k)
			}
			if err != nil {
				return nil, fmt.Errorf("%s of %s: %w", k, p.source, err)
			}
			set.Own[k] += own
			total += sum
			duration += p.DurationNanos
			of = append(of, p.Profile)
			start := time.Unix(0, p.TimeNanos)
			// The goroutine profile stops the world, which takes until every thread has
			// reached a stopping point, so its time is checked separately.
			if k == profiles.Goroutine {
				continue
			}
			if set.Started.IsZero() || start.Before(set.Started) {
				set.Started = start
			}
			if start.After(latest) {
				latest = start
			}
		}
		all, err := profile.Merge(of)
		if err != nil {
			return nil, fmt.Errorf("%s: the processes' profiles do not fit together: %w", k, err)
		}
		all.DurationNanos = duration / int64(len(of)) // Merge adds durations up
		sum, err := profiles.Total(all, k)
		switch err = cmp.Or(all.CheckValid(), err); {
		case err != nil:
			return nil, fmt.Errorf("%s, merged: %w", k, err)
		case sum != total:
			return nil, fmt.Errorf("%s: merged it comes to %d, its parts to %d", k, sum, total)
		}
		set.Merged[k] = all
	}
	set.Spread = latest.Sub(set.Started)
	return set, nil
}

// clean keeps what belongs to the window and the load, and returns the cost of
// profiling itself.
func (p part) clean() (own int64, err error) {
	if err := p.CheckValid(); err != nil {
		return 0, err
	}
	if p.TimeNanos <= 0 || !p.kind.OfMoment() && p.DurationNanos <= 0 {
		return 0, fmt.Errorf("the file says neither when nor how long (time %d ns, duration %d ns)", p.TimeNanos,
			p.DurationNanos)
	}
	// The time in a profile that is a difference of two states is that of the
	// later one.
	if !p.kind.OfMoment() && p.kind != profiles.CPU {
		p.TimeNanos -= p.DurationNanos
	}
	if err := p.keep(counted[p.kind], p.kind.SampleType()); err != nil {
		return 0, err
	}
	at := len(p.SampleType) - 1 // the kind's own type is its last column
	var load []*profile.Sample
	for _, s := range p.Sample {
		// Counters only rise, and a moment has nothing negative. Such a file is of
		// another kind than it claims, and its shares would be wrong.
		if slices.ContainsFunc(s.Value, func(v int64) bool { return v < 0 }) {
			return 0, fmt.Errorf("a sample is negative: %v", s.Value)
		}
		if isOwn(s) {
			own += s.Value[at]
		} else {
			load = append(load, s)
		}
	}
	p.Sample = load
	// The path tells where the server was built.
	for _, m := range p.Mapping {
		if m.File != "" {
			m.File = filepath.Base(m.File)
		}
	}
	return own, nil
}

// keep drops all sample types except the named ones; an empty name is none.
func (p part) keep(columns ...string) error {
	columns = slices.DeleteFunc(columns, func(c string) bool { return c == "" })
	var types []*profile.ValueType
	var at []int
	for _, name := range columns {
		i := slices.IndexFunc(p.SampleType, func(t *profile.ValueType) bool { return t.Type == name })
		if i < 0 {
			return fmt.Errorf("it has no sample type %q", name)
		}
		types, at = append(types, p.SampleType[i]), append(at, i)
	}
	for _, s := range p.Sample {
		kept := make([]int64, len(at))
		for i, j := range at {
			kept[i] = s.Value[j]
		}
		s.Value = kept
	}
	p.SampleType = types
	p.DefaultSampleType = columns[len(columns)-1]
	return nil
}

// isOwn reports whether a sample belongs to profiling itself: to the handlers
// of net/http/pprof, to the lab's own code in front of them, or to the
// goroutine that writes the CPU profile.
func isOwn(s *profile.Sample) bool {
	return slices.ContainsFunc(profiles.StackOf(s), profiles.IsProfiler)
}
