package load

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// A Part is the report of one of several generators that carried out a plan
// together.
type Part struct {
	Name    string  // in messages, as "client 2"
	Report  *Report // of its own plan
	Slots   []int   // by slot of its own plan: the slot of the whole
	Targets []int   // by target of its own plan: the target of the whole
	// AheadNS is what to take from the part's times to get those of the whole.
	AheadNS int64
}

// Merge adds up the reports of generators that carried out the whole plan
// together, each at the times that it was given. Counts add up, histograms are
// merged, and percentiles are those of the merged histograms. A slot counts where
// all parts that have it counted it and their times differ by no more than apart;
// else it has failed, and says which part is why. Its time is that in which all
// of them counted. It has no CPU times of servers and no wire: who read them fills
// them in.
//
// If AheadNS is what was added to the plan's times to get the part's, all times are the
// planned ones. Otherwise requests are of times that differ by up to apart, and a rate
// made of them is wrong by up to that share.
//
// Silence and the busiest thread are the worst part's. What a part recorded in a
// slot that failed in another one stays in the latencies, since a histogram does
// not know its slots. The summary's times are those of the parts' own wall clocks.
func Merge(whole *Plan, parts []Part, apart time.Duration) (*Report, error) {
	if len(parts) == 0 {
		return nil, errors.New("there are no reports to merge")
	}
	first := &parts[0].Report.Summary
	own := make([][]int, len(parts)) // by part, by slot of the whole: its own slot, or none
	for i := range parts {
		p := &parts[i]
		var err error
		own[i], err = p.check(whole)
		switch s := &p.Report.Summary; {
		case err != nil:
		case s.LatencyStep != first.LatencyStep || s.LatencyStep != LatencyStep:
			err = fmt.Errorf("latencies in steps of %v, those of %s of %v, and only steps of %v can be merged", s.LatencyStep,
				parts[0].Name, first.LatencyStep, LatencyStep)
		case s.Version != first.Version:
			err = fmt.Errorf("http_load %.100q, and %s has %.100q", s.Version, parts[0].Name, first.Version)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	r := &Report{Slots: []SlotReport{}, Held: true}
	ended := int64(math.MinInt64)
	for i := range whole.Slots {
		s := mergeSlot(i, parts, own, apart)
		s.Slot, s.Target = i, whole.Slots[i].Target
		if s.Failed == "" && s.AtNS < ended {
			s = SlotReport{Slot: i, Target: s.Target, FillS: s.FillS, LateS: s.LateS,
				Failed: "it began before an earlier slot had ended", ServerCPUS: []float64{}}
		}
		if s.Failed == "" {
			ended = s.AtNS + NS(s.Seconds)
		}
		r.Slots = append(r.Slots, s)
	}
	var err error
	r.Summary, err = mergeSummaries(whole, parts, r.Slots)
	for i := range parts {
		r.Held = r.Held && parts[i].Report.Held
	}
	return r, err
}

// none stands for a slot that a part does not have.
const none = -1

// check tells whether a part belongs to the whole, and gives its own slots by those of
// the whole.
func (p *Part) check(whole *Plan) ([]int, error) {
	if err := p.fits(whole); err != nil {
		return nil, err
	}
	own := slices.Repeat([]int{none}, len(whole.Slots))
	for i, s := range p.Slots {
		one := &p.Report.Slots[i]
		switch {
		case s < 0 || s >= len(own) || own[s] != none:
			return nil, fmt.Errorf("its slot %d is slot %d of the whole, which there is not, or is another one already", i, s)
		case one.Target >= len(p.Targets) || p.Targets[one.Target] != whole.Slots[s].Target:
			return nil, fmt.Errorf("slot %d is of target %d, which is not that of slot %d of the whole", i, one.Target, s)
		case one.Failed == "" && (one.AtNS < p.AheadNS || one.AtNS > 2*farNS || p.AheadNS < -farNS ||
			one.Seconds > 2*MaxSeconds):
			return nil, fmt.Errorf("slot %d counted %v s at %d ns, which no clock says", i, one.Seconds, one.AtNS)
		}
		own[s] = i
	}
	return own, nil
}

// farNS is 73 years, and no clock counts to twice that before the year 2116.
const farNS = int64(1) << 61

// fits compares lengths, targets and what was recorded with the whole.
func (p *Part) fits(whole *Plan) error {
	r := p.Report
	switch {
	case p.Name == "":
		return errors.New("a part without a name")
	case len(p.Slots) != len(r.Slots):
		return fmt.Errorf("%d slots were reported, planned were %d", len(r.Slots), len(p.Slots))
	case len(p.Targets) != len(r.Summary.Targets):
		return fmt.Errorf("a summary of %d targets, planned were %d", len(r.Summary.Targets), len(p.Targets))
	}
	targets := map[int]bool{}
	for i, t := range p.Targets {
		if t < 0 || t >= len(whole.Targets) || targets[t] {
			return fmt.Errorf("its target %d is target %d of the whole, which there is not, or is another one already", i, t)
		}
		targets[t] = true
		one := &r.Summary.Targets[i]
		switch {
		case one.Name != whole.Targets[t].Name:
			return fmt.Errorf("target %d is %.100q, planned was %.100q", i, one.Name, whole.Targets[t].Name)
		case one.Latency != nil && one.Histogram == nil, one.SendLag != nil && one.Lags == nil:
			return fmt.Errorf("target %d has latencies and no histogram; the plan has to ask for raw ones", i)
		}
	}
	return nil
}

// A turn is when a part counted a slot, in ns by the whole's times.
type turn struct {
	name     string
	from, to int64
}

func mergeSlot(of int, parts []Part, own [][]int, apart time.Duration) SlotReport {
	sum := SlotReport{ServerCPUS: []float64{}}
	var failed []string
	var turns []turn
	for i, p := range parts {
		if own[i][of] == none {
			continue
		}
		s := p.Report.Slots[own[i][of]]
		sum.FillS, sum.LateS = max(sum.FillS, s.FillS), max(sum.LateS, s.LateS)
		if s.Failed != "" {
			failed = append(failed, p.Name+": "+s.Failed)
			continue
		}
		turns = append(turns, turn{p.Name, s.AtNS - p.AheadNS, s.AtNS - p.AheadNS + NS(s.Seconds)})
		sum.Requests += s.Requests
		sum.Bytes += s.Bytes
		sum.ClientCPUS += s.ClientCPUS
		sum.BusiestThreadS, sum.SilenceS = max(sum.BusiestThreadS, s.BusiestThreadS), max(sum.SilenceS, s.SilenceS)
	}
	if len(failed) == 0 {
		from, to, why := together(turns, apart)
		if why == "" {
			sum.AtNS, sum.Seconds = from, seconds(to-from)
			return sum
		}
		failed = []string{why}
	}
	why := failed[0]
	if others := len(failed) - 1; others > 0 {
		why += fmt.Sprintf(" (and %d more failed)", others)
	}
	return SlotReport{FillS: sum.FillS, LateS: sum.LateS, Failed: why, ServerCPUS: []float64{}}
}

// together is the time in which all counted, or why that is none.
func together(turns []turn, apart time.Duration) (from, to int64, why string) {
	if len(turns) == 0 {
		return 0, 0, "nobody loaded its target"
	}
	byFrom := func(a, b turn) int { return cmp.Compare(a.from, b.from) }
	byTo := func(a, b turn) int { return cmp.Compare(a.to, b.to) }
	began, last := slices.MinFunc(turns, byFrom), slices.MaxFunc(turns, byFrom)
	first, ended := slices.MinFunc(turns, byTo), slices.MaxFunc(turns, byTo)
	if d := time.Duration(last.from - began.from); d > apart {
		why = fmt.Sprintf("%s began %v after %s", last.name, d, began.name)
	} else if d := time.Duration(ended.to - first.to); d > apart {
		why = fmt.Sprintf("%s ended %v after %s", ended.name, d, first.name)
	} else if first.to <= last.from {
		why = fmt.Sprintf("%s began after %s had ended", last.name, first.name)
	}
	return last.from, first.to, why
}
