package site

import (
	"fmt"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// questions answers the six questions that Brendan Gregg asks of a benchmark, from the evidence that a page shows; none
// without any. What the client counted is that of the newest runs.
func (s *Site) questions(p *page) []strict.Word {
	bounds, blocks, trials, refused := map[string]int{}, 0, 0, 0
	asked, wrong, compared, wire, busy, control := 0.0, 0.0, 0.0, 0.0, 0.0, ""
	for _, name := range p.Experiments {
		e := s.shown[name]
		if e == nil || e.Blocks == 0 {
			continue
		}
		blocks += e.Blocks
		if e.Control != nil && control == "" {
			control = " One condition ran under two names: " + e.Control.Reason + "."
		}
		for _, c := range e.Conditions {
			trials, refused = trials+c.Trials, refused+c.Invalid
			for bound, n := range c.Bounds {
				bounds[bound] += n
			}
			for metric, most := range map[string]*float64{"line_rate_share": &wire, "client_thread_busy_max": &busy} {
				if m := c.Metrics[metric].Median; m != nil {
					*most = max(*most, *m)
				}
			}
		}
		for _, t := range e.newest.Trials {
			asked, compared = asked+t.Metrics["requests"], compared+t.Metrics["answers_compared"]
			wrong += t.Metrics["errors"] + t.Metrics["non_2xx"] // timeouts are among the errors
		}
	}
	if blocks == 0 {
		return nil
	}
	limits := fmt.Sprintf("The client's busiest thread was busy for %s of the time, at the condition with the highest median.",
		words.Percent(busy))
	if wire > 0 {
		limits += fmt.Sprintf(" The wire carried up to %s of its rate.", words.Percent(wire))
	}
	failed := fmt.Sprintf("Faults refused %d of %s.", refused, words.Count(trials, "trial"))
	if asked > 0 {
		failed += fmt.Sprintf(" In the newest runs %s requests were answered, and %s failed.", words.Grouped(asked, 0), words.Grouped(wrong, 0))
	}
	happened := "The kernel counted the CPU time, between slots, and the client what arrived"
	if compared > 0 {
		happened += fmt.Sprintf("; it compared %s answers with what it expected", words.Grouped(compared, 0))
	}
	matter := "Each claim has a margin with a reason."
	if len(p.Rests) > 0 {
		if n, err := s.resolve(strings.Replace(p.Rests[0].Claim, "/", " outcomes ", 1)); err == nil && n.List[0].Note != "" {
			matter = n.List[0].Title + " " + words.UpperFirst(n.List[0].Note) + "."
		}
	}
	return []strict.Word{
		{Name: "Why not twice as much?", Meaning: "What limited the trials, and how many: " + words.Tally(bounds, true) + "."},
		{Name: "Did it break a limit?", Meaning: limits},
		{Name: "Did it err?", Meaning: failed},
		{Name: "Does it repeat?", Meaning: words.Count(blocks, "block") + ", each with fresh servers." + control},
		{Name: "Does it matter?", Meaning: matter},
		{Name: "Did it happen at all?", Meaning: happened + "."},
	}
}
