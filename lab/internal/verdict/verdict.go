// Package verdict says what a run makes of its experiment's claims.
//
// Its stance: fail closed. A claim is reproduced only where every interval
// that bears on it lies on the claim's side; a run too small for an interval,
// trials that a gate refused, a client that was the wall, or a precondition
// that was not met each have a verdict of their own, and none of them is
// "reproduced". Not having seen a difference is inconclusive.
//
// Its limit: each comparison has its own 95 % interval. A claim that needs all
// of its comparisons to agree is the stricter for it; nothing is corrected
// for the number of claims that one experiment decides.
package verdict

import (
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// Version is the schema version of the verdict files.
const Version = 1

// A Verdict is what a run says of a claim.
type Verdict string

// The verdicts, each with its sentence in Meaning.
const (
	Reproduced    Verdict = "reproduced"
	Refuted       Verdict = "refuted"
	Inconclusive  Verdict = "inconclusive"
	Invalid       Verdict = "invalid"
	NotApplicable Verdict = "not-applicable"
)

// Meaning says in one sentence what a verdict stands for.
func (v Verdict) Meaning() string {
	switch v {
	case Reproduced:
		return "every interval that bears on the claim lies on its side of the margin"
	case Refuted:
		return "an interval lies wholly on the other side of the margin"
	case Inconclusive:
		return "the run cannot tell: an interval crosses the margin, or there are too few blocks for one"
	case Invalid:
		return "the trials cannot bear the claim: a gate refused too many, or the client was the wall"
	case NotApplicable:
		return "a precondition of the claim is not met on this host or in this run"
	}
	return ""
}

// A File is what one run says of all its claims, with the figures that pages
// show. It is derived: `lab verdicts` makes it anew from the results file.
type File struct {
	SchemaVersion int       `json:"schema_version"`
	Experiment    string    `json:"experiment"`
	Entry         string    `json:"entry"`
	Run           string    `json:"run"`
	Source        string    `json:"source"`
	Host          string    `json:"host"` // the server's
	ClientHost    string    `json:"client_host"`
	Date          string    `json:"date"`             // day the run started, or the text's
	Started       string    `json:"started"`          // for order; a published run's is its date
	Size          string    `json:"size,omitempty"`   // smoke or full, of a measured run
	Blocks        int       `json:"blocks,omitempty"` // planned, of a measured run
	Topology      string    `json:"topology"`
	LineRateBps   float64   `json:"line_rate_bps,omitempty"`
	Trials        int       `json:"trials"`
	InvalidTrials int       `json:"invalid_trials"`
	Claims        []Claim   `json:"claims"`
	Conditions    []Summary `json:"conditions"`
}

// A Claim is one claim's verdict in one run.
type Claim struct {
	ID      string  `json:"id"`
	Verdict Verdict `json:"verdict"`
	// SingleRun is "agrees" or "disagrees": what the point figures of one run
	// say, which is never enough for a verdict.
	SingleRun string         `json:"single_run,omitempty"`
	Reason    string         `json:"reason"`
	Bounds    map[string]int `json:"bounds,omitempty"` // valid trials by what bounded them
	Effects   []Effect       `json:"effects,omitempty"`
}

// An Effect is one comparison: a metric at levels A over that at levels B.
type Effect struct {
	Metric string         `json:"metric"`
	A      setting.Levels `json:"a"`
	B      setting.Levels `json:"b"`
	At     setting.Levels `json:"at,omitempty"` // levels of the other factors
	Pairs  int            `json:"pairs"`
	Ratio  float64        `json:"ratio"`          // median of the per-block ratios
	Low    float64        `json:"low,omitempty"`  // its interval; absent below six pairs
	High   float64        `json:"high,omitempty"` // as Low
}

// A Summary is what one condition's valid trials showed.
type Summary struct {
	ID      string            `json:"id"`
	Levels  setting.Levels    `json:"levels"`
	Trials  int               `json:"trials"`
	Invalid int               `json:"invalid"`
	Bounds  map[string]int    `json:"bounds"`
	Metrics map[string]Figure `json:"metrics"`
}

// A Figure is a metric's median over a condition's valid trials.
type Figure struct {
	N       int      `json:"n"`
	Median  *float64 `json:"median,omitempty"`
	Low     *float64 `json:"low,omitempty"`  // interval of the median; absent below six
	High    *float64 `json:"high,omitempty"` // as Low
	Below   *float64 `json:"below,omitempty"`
	Printed string   `json:"printed,omitempty"` // a published figure as printed
}
