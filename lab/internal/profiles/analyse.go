package profiles

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/line-rate/line-rate/lab/internal/words"
)

// Analyse sums up a profile. A profile without samples is valid: a server in
// which no lock was contended has such a mutex profile.
//
// Shares are of the kind's value (time or bytes), not of the number of samples.
func Analyse(kind Kind, p *profile.Profile) (Profile, error) {
	out := Profile{Kind: kind, Work: map[string]float64{}, Packages: map[string]float64{}}
	if !slices.Contains(Kinds(), kind) {
		return out, fmt.Errorf("profiles: unknown kind %q", kind)
	}
	col, err := FindColumn(p, kind.SampleType())
	if err != nil {
		return out, fmt.Errorf("profiles: %s: %w", kind, err)
	}
	counted := -1
	if name := kind.Doc().Events; name != "" {
		c, err := FindColumn(p, name)
		if err != nil {
			return out, fmt.Errorf("profiles: %s: %w", kind, err)
		}
		counted = c.At
	}

	var total, count int64
	works, packages := map[Work]int64{}, map[string]int64{}
	stacks, keys := map[string]bool{}, map[string]string{}
	for _, s := range p.Sample {
		v := s.Value[col.At]
		if v < 0 || counted >= 0 && s.Value[counted] < 0 {
			return out, fmt.Errorf("profiles: %s: a sample is negative, as in a difference of profiles; shares cannot show that",
				kind)
		}
		if v == 0 {
			continue
		}
		if total += v; total < 0 {
			return out, fmt.Errorf("profiles: %s: the sum of the samples is beyond 64 bits", kind)
		}
		if counted >= 0 {
			count += s.Value[counted]
		}
		stack := StackOf(s)
		stacks[strings.Join(stack, "\n")] = true
		works[WorkOf(stack)] += v
		// A package counts once for a sample, however often it is on the stack.
		seen := map[string]bool{}
		for _, name := range stack {
			key, known := keys[name]
			if !known {
				key = PackageOf(name)
				keys[name] = key
			}
			if !seen[key] {
				seen[key] = true
				packages[key] += v
			}
		}
		// With a sample without a stack, no package is known to be absent.
		if len(stack) == 0 {
			packages[NoSymbol] += v
		}
	}

	out.Unit = col.Unit
	out.Total = words.Significant(float64(total)/float64(col.Per), 12)
	out.Events = float64(count)
	out.Stacks = len(stacks)
	if !kind.OfMoment() {
		out.DurationS = words.Significant(float64(p.DurationNanos)/1e9, 12)
	}
	for work, part := range works {
		out.Work[string(work)] = share(part, total)
	}
	for name, part := range packages {
		out.Packages[name] = share(part, total)
	}
	return out, nil
}

// Parked is the mean number of blocked goroutines in a block profile: their
// blocked time over the window's. It includes goroutines that wait for work. It
// is 0 for other profiles.
func Parked(p Profile) float64 {
	if p.Kind != Block || p.DurationS == 0 {
		return 0
	}
	return words.Significant(p.Total/p.DurationS, 9)
}

// share gives a share with nine significant digits: more than the samples of
// any profile resolve, and few enough to read.
func share(part, total int64) float64 { return words.Significant(float64(part)/float64(total), 9) }
