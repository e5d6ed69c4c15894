package schema

import (
	"github.com/invopop/jsonschema"

	"github.com/line-rate/line-rate/lab/internal/strict"
)

// whys describes of what kind of work a difference is.
func whys(s *jsonschema.Schema) {
	for name, meanings := range map[string]map[string]string{
		"Why": {
			"source": "What took the profiles of all servers: pprof, perf, or ticks of /proc, which tell user space from the kernel alone.",
			"rounds": "Times that all servers were started afresh and profiled.", "window_s": "Seconds of one profile.",
			"comparisons": "Each other server with the first.",
		},
		"Reasons": {
			"name": "The server.", "base": "The first server.", "says": "What is shown, in words.",
			"kinds": "From the largest difference; in each round they add up to all.", "all": "CPU time a request while profiled.",
		},
		"Reason": {
			"kind": "Of work; each sample has one, by its whole stack.", "base_s": "CPU time a request of the first server, median over rounds.",
			"other_s": "Likewise, of the server.", "difference_s": "Median over rounds of the server's less the first's.",
			"low_s":  "Least that the interval of that median holds, at 95 %.",
			"high_s": "Most that it holds.", "each_s": "The difference of each round.",
			"share": "Of the whole difference; absent where the interval of that, or the kind's own, holds 0.",
		},
	} {
		of := s.Definitions[name]
		needed := of.Required
		strict.Describe(of, meanings)
		of.Required = needed
	}
}
