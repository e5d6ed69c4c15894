package pages

import (
	"fmt"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

// Wall says in a sentence whether the server or its clients are the wall, where a
// design adds clients and nothing else. It puts two things together that stand in
// the file: what the claims say of the last client that was added, and what
// bounded the trials with all of them. It is empty where no number of clients was
// measured beside a smaller one.
//
// Neither tells it alone. A client's CPU may be full beside a server that is full
// in the next block; and throughput may stop rising because the clients share a
// link, or a machine.
func Wall(f *verdict.File, x *experiment.Experiment) string {
	if f.Fleet == nil || len(x.Factors) != 1 || x.Factors[0].Name != setting.Clients || len(f.Conditions) < 2 {
		return ""
	}
	last, before := f.Conditions[len(f.Conditions)-1], f.Conditions[len(f.Conditions)-2]
	more, fewer := last.Levels[setting.Clients], before.Levels[setting.Clients]
	var adds, flat verdict.Claim
	bounds := last.Bounds
	for _, c := range x.Claims {
		said, ok := f.Claim(c.ID)
		compares := c.Over == setting.Clients && len(c.Compared()) == 2 && c.Compared()[0] == fewer && c.Compared()[1] == more
		switch {
		case !ok:
		case compares && c.Kind == experiment.Ratio && c.AtLeast != nil:
			adds = said
		case compares && c.Kind == experiment.Flat:
			flat = said
		case c.Kind == experiment.Bound && c.Where()[setting.Clients] == more && said.Bounds != nil:
			bounds = said.Bounds // of all runs of the record
		}
	}
	rises, stays := adds.Verdict == verdict.Reproduced, flat.Verdict == verdict.Reproduced ||
		adds.Verdict == verdict.Refuted
	if !rises && !stays {
		return fmt.Sprintf("Whether the server or its clients are the wall is open: it is not decided whether %s clients "+
			"reach more than %s.", more, fewer)
	}
	times := ""
	for _, c := range []verdict.Claim{adds, flat} {
		if e, ok := verdict.Deciding(c); ok && times == "" {
			times = e.Text()
		}
	}
	step := fmt.Sprintf("%s clients reach %s times the throughput of %s", more, times, fewer)
	met, of, all := mostOf(bounds)
	in := fmt.Sprintf("in %d of %d trials", of, all)
	switch has := func(b gate.Bound) bool { return strings.Contains(met, string(b)) }; {
	case rises && has(gate.BoundServerCPU) && !has(gate.BoundClientCPU):
		return fmt.Sprintf("With %s clients the server's CPU is the wall, and %s are too few for it: %s, and with %s of "+
			"them the server's CPU was full %s.", more, fewer, step, more, in)
	case rises && has(gate.BoundClientCPU):
		return fmt.Sprintf("The clients are the wall: %s, and the CPU of the fullest was full %s.", step, in)
	case rises && has(gate.BoundWire):
		return fmt.Sprintf("The clients' links are the wall: %s, and the fullest link was full %s.", step, in)
	case rises:
		return fmt.Sprintf("More clients still add throughput, so the server is not the wall: %s. No wall was seen to be "+
			"met in most trials.", step)
	case has(gate.BoundServerCPU) && !has(gate.BoundClientCPU):
		return fmt.Sprintf("The server is the wall: %s, its CPU was full %s, and no client was full there.", step, in)
	case has(gate.BoundClientCPU):
		return fmt.Sprintf("A further client adds nothing, though one was full %s: %s. The clients share what is full, as "+
			"cores of one machine, or wait for the fullest of them.", in, step)
	case has(gate.BoundWire):
		return fmt.Sprintf("The server's link is the wall: %s, though the fullest link was full %s.", step, in)
	}
	return fmt.Sprintf("A further client adds nothing, and no wall was seen to be met in most trials: %s.", step)
}

// mostOf is the bound of more than half of some trials, empty if none is, with
// how many have it and how many there are.
func mostOf(bounds map[string]int) (met string, of, all int) {
	for _, n := range bounds {
		all += n
	}
	for bound, n := range bounds {
		if 2*n > all && bound != string(gate.BoundUnknown) {
			met, of = bound, n
		}
	}
	return met, of, all
}
