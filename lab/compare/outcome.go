package compare

import "slices"

// Version is the schema version of an Outcome.
const Version = 1

// A Verdict is what a comparison says of the CPU time that a request costs.
type Verdict string

// The verdicts.
const (
	Dearer    Verdict = "dearer"    // the whole interval of the ratio lies above 1, and not within the margin
	Cheaper   Verdict = "cheaper"   // likewise below 1
	Same      Verdict = "same"      // the whole interval lies within the margin
	Undecided Verdict = "undecided" // the interval holds both 1 and a ratio beyond the margin, or the A/A control differed
	Invalid   Verdict = "invalid"   // faults refused so many trials that the rest tell nothing
	Failing   Verdict = "failing"   // too many answers failed, or unequal shares of the two: no verdict on cost
	Uncosted  Verdict = "uncosted"  // without processes there is no CPU time, and so no verdict on cost
)

// Verdicts lists the verdicts.
var Verdicts = []Verdict{Same, Cheaper, Dearer, Undecided, Invalid, Failing, Uncosted}

// An Outcome is what came of one call: what was asked, what was measured, and
// what that says. It is the object that --json prints.
type Outcome struct {
	SchemaVersion int      `json:"schema_version"`
	Typed         string   `json:"typed"` // the command line, without --json
	Says          []string `json:"says"`  // the lines that the call prints with -v
	Exit          int      `json:"exit"`  // the exit status

	Path        string  `json:"path"`
	NewEach     bool    `json:"new_connections,omitempty"`
	Protocol    string  `json:"protocol,omitempty"` // if not HTTP/1.1 in plain text
	Connections int     `json:"connections"`
	Pipelining  int     `json:"pipelining"`
	RateRPS     int     `json:"rate_rps,omitempty"`
	Margin      float64 `json:"margin"`
	FailAbove   float64 `json:"fail_above,omitempty"`
	Confidence  float64 `json:"confidence"`

	StartedAt  string  `json:"started_at"` // RFC 3339, UTC
	DurationS  float64 `json:"duration_s"`
	Seed       uint64  `json:"seed"`
	Blocks     int     `json:"blocks"`
	Trials     int     `json:"trials"`
	Refused    int     `json:"invalid_trials"`
	SlotS      float64 `json:"slot_s"`
	Rounds     int     `json:"rounds"`
	WarmupS    float64 `json:"warmup_s"`
	Machine    string  `json:"machine"`
	Kernel     string  `json:"kernel"`
	ServerCPUs string  `json:"server_cpus,omitempty"`
	ClientCPUs string  `json:"client_cpus,omitempty"`
	Lab        string  `json:"lab"` // the commit that the lab was built from

	Servers     []Measured   `json:"servers"`
	Comparisons []Comparison `json:"comparisons"`               // each other server with the first
	Curve       *Curve       `json:"latency_curve,omitempty"`   // present with --rates
	Why         *Why         `json:"why,omitempty"`             // present with --why
	Differs     bool         `json:"control_differs,omitempty"` // one server measured twice differed from itself
	Notes       []string     `json:"notes,omitempty"`
}

// Measured is one server with the medians over its valid trials. A figure that nobody measured is
// absent.
type Measured struct {
	Name     string   `json:"name"`
	Command  []string `json:"command,omitempty"`
	URL      string   `json:"url,omitempty"`
	Subject  string   `json:"subject,omitempty"`  // whose CPU time was read of a server that ran already, as pid:1234
	Revision string   `json:"revision,omitempty"` // the commit that it was built from, where --base and --head name it
	WarmupS  float64  `json:"warmup_s,omitempty"` // load after each of its starts that does not count
	// NeverSteady says how its CPU a request went on changing within blocks.
	NeverSteady   string  `json:"never_steady,omitempty"`
	CPUPerRequest float64 `json:"server_cpu_per_request_s,omitempty"`
	Throughput    float64 `json:"throughput_rps,omitempty"`
	P50           float64 `json:"latency_p50_s,omitempty"`
	P99           float64 `json:"latency_p99_s,omitempty"`
	ResponseBytes float64 `json:"response_bytes,omitempty"`
	MemoryLoad    float64 `json:"memory_load_bytes,omitempty"`
	// Calls and CallsBy are system calls a request, in all and by name.
	Calls   float64            `json:"system_calls_per_request,omitempty"`
	CallsBy map[string]float64 `json:"system_calls,omitempty"`
	Bound   string             `json:"bound"` // of most valid trials: walls joined by +, or unknown
	Bounded int                `json:"bounded"`
	Valid   int                `json:"valid_trials"`
	Refused int                `json:"invalid_trials"`
}

// A Comparison is one server over the first.
type Comparison struct {
	Name    string  `json:"name"`
	Base    string  `json:"base"`
	Verdict Verdict `json:"verdict"`
	Says    string  `json:"says"`
	// Failed says what shares of the answers of the two were wrong or did not come; empty if none.
	Failed string `json:"failed,omitempty"`
	// NeverSteady says that one of both changed otherwise than the other, and that the verdict is undecided for it.
	NeverSteady bool `json:"never_steady,omitempty"`
	// Above says whether CPU a request is above --fail-above: yes, no, or open
	// while the interval holds it. It is absent if that was not asked.
	Above string `json:"above,omitempty"`
	// FurtherS estimates how many more seconds would decide; absent if unknown, and
	// where nothing is open.
	FurtherS float64 `json:"further_s,omitempty"`

	CPUPerRequest *Ratio `json:"server_cpu_per_request_s,omitempty"`
	Throughput    *Ratio `json:"throughput_rps,omitempty"`
	P50           *Ratio `json:"latency_p50_s,omitempty"`
	P99           *Ratio `json:"latency_p99_s,omitempty"`
}

// A Ratio is a metric of one server over that of the first, block by block.
type Ratio struct {
	Ratio  float64 `json:"ratio"` // of the median block
	Blocks int     `json:"blocks"`
	// Each has the ratio of each block in its order; 0 is a block that cannot tell.
	Each []float64 `json:"each,omitempty"`
	// Again has it once more, from the second start of one of the two that is the control.
	Again []float64 `json:"again,omitempty"`
	// Low and High are the confidence sequence of the median ratio: valid at
	// whatever block one stops. Both are absent while there are too few blocks.
	Low  float64 `json:"low,omitempty"`
	High float64 `json:"high,omitempty"`
	// Unequal reports whether the interval leaves out 1. It is, where an end is 1 itself, if more
	// or less is shown by how far the ratios lie from 1, and by how much is not yet.
	Unequal bool `json:"unequal,omitempty"`
}

// Known reports whether there is an interval.
func (r *Ratio) Known() bool { return r != nil && r.High > 0 }

// The answers to --fail-above.
const (
	AboveYes  = "yes"
	AboveNo   = "no"
	AboveOpen = "open"
)

// open reports whether more blocks may tell more of a comparison that was asked.
func (o *Outcome) open(c Comparison) bool {
	switch {
	case c.NeverSteady:
		return !c.CPUPerRequest.Known()
	case c.Verdict == Uncosted:
		return !c.Settled(o.Margin)
	}
	return c.Verdict == Undecided || c.Above == AboveOpen
}

// Settled reports whether more blocks would tell nothing more that was asked.
func (o *Outcome) Settled() bool {
	return len(o.Comparisons) > 0 &&
		!slices.ContainsFunc(o.Comparisons, func(c Comparison) bool { return c.Verdict == Invalid || o.open(c) })
}

// Settled reports whether throughput without a cost is known as well as was asked.
func (c Comparison) Settled(margin float64) bool {
	t := c.Throughput
	return t.Known() && (t.Unequal || t.Judge(margin) == Same)
}

// Further estimates the seconds after which nothing more is open; 0 if that is not known.
func (o *Outcome) Further() (most float64) {
	for _, c := range o.Comparisons {
		if o.open(c) && c.FurtherS == 0 {
			return 0
		}
		most = max(most, c.FurtherS)
	}
	return most
}

// The exit statuses of a comparison. They mean the same as for the lab's other
// commands; the last is a comparison's own.
const (
	ExitDecided   = 0
	ExitUndecided = 1
	ExitInvalid   = 2
	ExitAbove     = 4
)

// Status is the exit status that scripts see. Above the bar counts more than anything
// open: it is decided, whatever else is not.
func (o *Outcome) Status() int {
	has := func(is func(c Comparison) bool) bool { return slices.ContainsFunc(o.Comparisons, is) }
	switch {
	case has(func(c Comparison) bool { return c.Above == AboveYes }):
		return ExitAbove
	case has(func(c Comparison) bool { return c.Verdict == Invalid || c.Verdict == Failing }):
		return ExitInvalid
	case !o.Settled() || has(func(c Comparison) bool { return c.NeverSteady }):
		return ExitUndecided
	}
	return ExitDecided
}
