// Package schema has the published schema of what linerate compare --json prints. It is apart from
// package contest, since what writes the schema needs nothing that measures.
package schema

import (
	"github.com/invopop/jsonschema"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// URL identifies the published schema. Nothing is fetched from it.
const URL = "https://line-rate.github.io/line-rate/schema/compare-1.json"

// JSON returns the JSON Schema of what --json prints, made from the Go type.
func JSON() []byte {
	s := strict.Schema(&compare.Outcome{}, "json")
	s.ID, s.Title = URL, "Line Rate comparison of servers, version 1"
	required := s.Required
	strict.Describe(s, map[string]string{
		"schema_version":  "Version of this schema.",
		"typed":           "The command line, without --json.",
		"says":            "The lines that the command prints without --json.",
		"exit":            "Its exit status: 0 decided, 1 not decided, 2 no verdict possible, 4 above --fail-above.",
		"path":            "What was asked of each server; the path of the first request, if there were several.",
		"requests":        "What was asked of each server, by weight; absent for a lone GET.",
		"new_connections": "Whether each request had a connection of its own.",
		"protocol":        "What was spoken, as HTTP/2 over TLS; absent for HTTP/1.1 in plain text.",
		"connections":     "To each server.",
		"pipelining":      "Requests in flight on each connection, in HTTP/2 as many streams.",
		"rate_rps":        "Requests a second asked for; absent in a closed loop.",
		"line_rate_bps":   "Of the shaped wire; absent over loopback.",
		"margin":          "What counts as the same, as a share.", "fail_above": "The bar of --fail-above.",
		"confidence": "Of each interval, at whatever block one stops.",
		"started_at": "UTC.", "duration_s": "With the look at each server before the first block.",
		"seed": "Of the order of slots.",
		"blocks": "Times that all servers were started afresh and measured; of servers that ran already, times that they " +
			"were measured.",
		"trials": "One a block for each server and for the control.", "invalid_trials": "Those that a gate refused.",
		"slot_s": "Seconds of one turn.", "rounds": "Turns of each server in a block.",
		"warmup_s": "Seconds of load before the first turn, of the server with most.",
		"machine":  "Its name.", "kernel": "Its release.", "server_cpus": "Cores of the servers.",
		"client_cpus": "Cores of the client.", "lab": "Commit of the lab.",
		"servers": "In the order given.", "comparisons": "Each other server with the first.",
		"latency_curve": "Latency at fixed rates, in an open loop; absent without --rates.",
		"highest_rates": "The highest rate of each server that keeps a p99; absent without --p99.",
		"why":           "Of what kind of work the difference in CPU a request is; absent without --why. It decides nothing.",
		"notes":         "What to know before relying on the figures.",
		"parts":         "The runs that were combined; absent for one run.",
	})
	m := s.Definitions["Measured"]
	needed := m.Required
	strict.Describe(m, map[string]string{
		"name": "As given.", "command": "Its words; absent for a server that ran already.",
		"url":                      "Of a server that ran already.",
		"subject":                  "Of a server that ran already: whose CPU time was read, as pid:1234, cgroup:/PATH or container:NAME.",
		"warmup_s":                 "Seconds of load after each of its starts that do not count.",
		"never_steady":             "Present where its CPU a request went on changing, and how; nothing is decided of such a server.",
		"sha256":                   "Digest of the files that the command names: of one its own, of several that of their list.",
		"revision":                 "The commit that it was built from, where --base and --head name it.",
		"server_cpu_per_request_s": "Median over valid trials.", "throughput_rps": "Median over valid trials.",
		"latency_p50_s": "Median over valid trials.", "latency_p99_s": "Median over valid trials.",
		"by_request":     "What came of each request; absent for a lone GET.",
		"response_bytes": "Bytes of an answer with its head, median over valid trials.",
		"request_bytes":  "Bytes of a request as written, mean over what is asked.",
		"memory_rest_bytes": "RSS of all its processes, pages that they share counted for each: once it listened and before " +
			"its first request; of a server that ran already, with no connection of this command's.",
		"memory_load_bytes": "The same after load, with the connections still open: median over valid trials; of a server that " +
			"ran already, read once.",
		"system_calls_per_request": "In all, counted by tracing all of its processes for less than two seconds after the comparison: " +
			"what a longer load has more than a shorter one, so that calls of each connection drop out. Absent where tracing is " +
			"not allowed, or refused by a note.",
		"system_calls": "The same by name; fewer than one in a thousand requests are left out. Those that each request makes are " +
			"exact. Waits and locks (epoll_wait, futex) depend on time, and a traced server takes several times as long.",
		"voluntary_switches_per_request": "Times that one of its threads went to sleep, each of which is followed by a wake-up; " +
			"under load that is not traced. Absent where threads or processes came and went, since they take their counts with them.",
		"involuntary_switches_per_request": "Times that one of its threads was taken off its core; absent likewise.",
		"bound":                            "What limited most valid trials: walls joined by +, or unknown.",
		"bounded":                          "How many trials that were.",
		"valid_trials":                     "Trials that count.", "invalid_trials": "Trials that a gate refused.",
	})
	for name, meanings := range map[string]map[string]string{
		"Asked": {
			"name": "As given, or method and path.", "method": "As given.", "path": "With its query.", "headers": "Their names; a value may be a secret.",
			"body_bytes": "Length of its body; absent without one.", "weight": "Its share, over the sum of all weights.",
			"status":  "Statuses that were expected; absent: any 2xx.",
			"checked": "Whether a check says what its answers must have.",
		},
		"Came": {
			"name": "Of the request.", "requests": "In all counted slots.", "latency_p50_s": "Median over valid trials.",
			"latency_p99_s": "Median over valid trials.",
			"faults":        "Another status than one expected, no valid answer, or an answer that was not right, in the whole time.",
		},
	} {
		of := s.Definitions[name]
		needed := of.Required
		strict.Describe(of, meanings)
		of.Required = needed
	}
	c := s.Definitions["Comparison"]
	compared := c.Required
	strict.Describe(c, map[string]string{
		"name": "The server.", "base": "The first server.", "verdict": "Of CPU time a request alone.",
		"says":         "The verdict in words.",
		"never_steady": "Present and true where one of both was never steady: the verdict is undecided for it.",
		"above":        "Whether CPU a request is above --fail-above.",
		"own_work": "CPU time a request over that of the first, without the client's part in either; absent where it was " +
			"not gauged.",
		"evidence":                 "For each answer about CPU time a request; absent where no block tells of it.",
		"further_s":                "About how many more seconds would decide; absent if unknown, and where nothing is open.",
		"server_cpu_per_request_s": "CPU time a request over that of the first.",
		"throughput_rps":           "Requests a second over those of the first.",
		"latency_p50_s":            "Median latency over that of the first.",
		"latency_p99_s":            "99th percentile over that of the first.",
	})
	var verdicts []strict.Word
	for _, v := range compare.Verdicts {
		verdicts = append(verdicts, strict.Word{Name: string(v), Meaning: v.Meaning()})
	}
	c.Properties.Set("verdict", strict.OneOf(verdicts))
	c.Properties.Set("above", strict.OneOf([]strict.Word{{Name: compare.AboveYes, Meaning: "The whole interval is above."},
		{Name: compare.AboveNo, Meaning: "None of the interval is above."},
		{Name: compare.AboveOpen, Meaning: "The interval holds the bar, or there is none."}}))
	r := s.Definitions["Ratio"]
	of := r.Required
	strict.Describe(r, map[string]string{
		"ratio": "Of the median block.", "blocks": "Blocks in which both have a valid trial.",
		"again": "The same, of the server that started twice as the control; absent where neither did.",
		"each":  "The ratio of each block in its order; 0 is a block that cannot tell.",
		"low":   "Least that the interval holds; absent while there are too few blocks.",
		"high":  "Most that the interval holds; absent likewise.",
		"unequal": "Whether 1 is left out; so it is if an end is 1 itself: how far the ratios lie from 1 shows more or less " +
			"sooner than by how much.",
	})
	p := s.Definitions["Part"]
	part := p.Required
	strict.Describe(p, map[string]string{
		"file": "Its name.", "machine": "Its name.", "started_at": "UTC.", "duration_s": "Of that run.", "blocks": "Of that run.",
		"comparisons": "What that run says alone.",
	})
	p.Required = part
	e := s.Definitions["Evidence"]
	weighed := e.Required
	strict.Describe(e, map[string]string{
		"agreed": "Whether the A/A control agreed and gates left enough trials; else the run decides nothing, and beside " +
			"others it counts only against an answer.",
		"more": "That the ratio is above 1: natural logarithm of an e-value, as all that follow.", "less": "That it is below 1.",
		"at_most":   "That it is not above 1 + margin.",
		"at_least":  "That it is not below 1 / (1 + margin).",
		"above":     "That it is above --fail-above; absent if that was not asked.",
		"not_above": "That it is not; absent likewise.",
	})
	e.Required = weighed
	rates(s)
	whys(s)
	s.Required, m.Required, c.Required, r.Required = required, needed, compared, of
	return strict.EncodeSchema(s)
}

// rates describes what was measured at fixed rates.
func rates(s *jsonschema.Schema) {
	for name, meanings := range map[string]map[string]string{
		"Curve": {
			"closed_loop_rps": "Lowest throughput of the servers in a closed loop, of which shares are; absent if unknown.",
			"slowest":         "The server that has it.", "slot_s": "Seconds at one rate in one block.",
			"blocks": "Times that all servers were started afresh and measured at all rates.",
			"points": "By rate, then in the servers' order.",
		},
		"Point": {
			"server": "Its name.", "rate_rps": "Requests a second that were due.",
			"latency_p50_s": "From when a request was due; absent if not known.", "latency_p90_s": "Likewise.",
			"latency_p99_s": "Likewise.", "latency_p999_s": "Likewise.", "refused": "Why nothing is said of this point.",
		},
		"Latency": {
			"s": "Of the median block.", "low_s": "Least that the interval of that median holds; absent while there are too " +
				"few blocks.", "high_s": "Most that it holds; absent likewise.",
		},
		"Highest": {
			"server": "Its name.", "p99_s": "The p99 to be kept.",
			"kept":       "The highest rate that was shown to keep it in more than half of its slots.",
			"not_kept":   "The lowest that was shown not to keep it in more than half of them.",
			"client_rps": "From this rate on the client was late itself; absent if that was not met.",
			"says":       "The result in words.",
		},
		"Shown": {
			"rate_rps": "Requests a second; 0 if none was shown.", "kept": "Slots that kept the p99.",
			"slots": "Slots that confirmed it.",
		},
	} {
		of := s.Definitions[name]
		needed := of.Required
		strict.Describe(of, meanings)
		of.Required = needed
	}
}
