// Package verdict decides what a machine's runs say about an experiment's claims.
//
// A claim makes one or more comparisons: of the ratio of a metric between two levels, or of a value, with a band, or of
// a resource with the bottleneck. All blocks of its design on one machine count together, whichever runs measured them.
// Each block gives one ratio or value, and the interval of the median block (confseq.Median) decides: inside the band
// the comparison holds, outside it falls, else it is open. One that falls refutes the claim; if all hold, it is
// confirmed. At a single edge only one of the two answers can be wrong, so each has the whole part of the error; in a
// band of two edges each has half. A block that is not apart from those before it (results.Apart) is left out.
//
// A block has no vote if a fault refused a trial, a figure is missing or the client's, or what the claim needs was not
// so. The dropped blocks may follow a condition. So the reason counts them, and a claim stays open if more than
// MostLost of its blocks have no vote.
//
// The probability that an experiment's question gets any wrong verdict on a machine is at most stats.Alpha, whenever a
// run stops. The jth measured design has alpha/(j(j+1)); its m claims, with withdrawn ones, and their comparisons divide
// it equally. Claims that need more cores than the machine has take no part.
//
// Two rules only take decisions away. If the A/A controls differ, an interval decides only if it keeps its side of the
// edges when it is wider by as much as the controls may differ. If what others ran on the cores
// follows one of two conditions and may explain their ratio, the claim stays open.
//
// Limits: nobody may be able to foretell on which side of an edge the next block falls, where the truth lies on the
// edge. What moves a ratio for many blocks, as a neighbour that stays for an hour, is in all of them, and they count as
// more evidence than they are. Blocks on several days are the remedy.
package verdict

import (
	_ "embed"
	"encoding/json"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/medians"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// Simulation is what came of made-up campaigns, as the tests wrote it.
//
//go:embed simulation.json
var Simulation json.RawMessage

// A Verdict is what the evidence says about a claim.
type Verdict string

// The verdicts; Meaning has a sentence on each.
const (
	Confirmed     Verdict = "confirmed"
	Refuted       Verdict = "refuted"
	Open          Verdict = "open"
	NotApplicable Verdict = "not-applicable"
)

// Word is what pages and the terminal call the verdict.
func (v Verdict) Word() string { return strings.ReplaceAll(string(v), "-", " ") }

// Meaning explains a verdict in one sentence; empty if there is no such verdict.
func (v Verdict) Meaning() string {
	return map[Verdict]string{
		Confirmed: "the interval of the median block lies where the claim wants it, in each comparison that it makes",
		Refuted:   "the interval of the median block lies outside of what the claim wants, in one of its comparisons",
		Open: "the blocks so far do not tell, and the reason says why: too few blocks, a median too near an edge, faults, " +
			"a client that was the bottleneck, or a control that differs",
		NotApplicable: "a precondition of the claim is not met on this host or in these runs",
	}[v]
}

// A File has what the record says about all claims of its newest run, and the figures of that run's conditions over all
// blocks.
type File struct {
	Run, Host  string // the newest run, and the server's host
	Date       string // day the run started
	Blocks     int    // of the run's design, with a valid trial under every condition
	Claims     []Claim
	Conditions []medians.Summary
	Control    *Control // nil where the record has no control
}

// A Claim is what the record says about one claim.
type Claim struct {
	ID      string
	Verdict Verdict
	Reason  string
	Blocks  int // that were begun
	Refused int // blocks of which a fault refused a trial
	// For and Against count the blocks for and against the claim; if it makes several
	// comparisons, those of the one that decides.
	For, Against int
	// Needed estimates how many further blocks would decide an open claim, if they go on as before; 0 if unknown.
	Needed  int
	Effects []Effect
}

// An Effect is one ratio: a metric at levels A over the same metric at
// levels B. Fields that need an interval are absent where there is none.
type Effect struct {
	Metric  string         `json:"metric"`
	A       setting.Levels `json:"a,omitempty"` // absent in a control, whose levels are equal
	B       setting.Levels `json:"b,omitempty"`
	At      setting.Levels `json:"at,omitempty"`      // levels of the other factors
	Blocks  int            `json:"blocks"`            // blocks that were begun
	Pairs   int            `json:"pairs"`             // blocks that count, and so have a ratio
	For     int            `json:"for,omitempty"`     // blocks with the whole range in the band
	Against int            `json:"against,omitempty"` // blocks with the whole range beyond an edge
	Decides bool           `json:"decides,omitempty"` // whether the claim's counts are those of this ratio
	// median of the per-block ratios; absent without a pair, or if only a range is known
	Ratio float64 `json:"ratio,omitempty"`
	// RatioLow and RatioHigh replace Ratio where figures are coarse: the medians of the smallest and of the largest
	// ratios that the figures allow. An absent RatioHigh, or High below, means no upper end.
	RatioLow    float64 `json:"ratio_low,omitempty"`
	RatioHigh   float64 `json:"ratio_high,omitempty"`
	Low         float64 `json:"low,omitempty"`       // of the interval of the median block, which decides
	High        float64 `json:"high,omitempty"`      // as Low
	BandLow     float64 `json:"band_low,omitempty"`  // edges of the claim's band; absent without that edge
	BandHigh    float64 `json:"band_high,omitempty"` // as BandLow
	words.Words         // of the ratio
	Change      string  `json:"change,omitempty"` // the ratio as a change in percent, "+35"
	Spread      string  `json:"spread,omitempty"` // of the blocks, where they are too few for an interval
}

// HasInterval reports whether there is an interval; one of its ends may be open.
func (e Effect) HasInterval() bool { return e.Low > 0 || e.High > 0 }

// A Control is a condition that was measured twice under two names. A
// difference between the two does not come from the server.
type Control struct {
	Reason string
	Reach  float64 // the factor by which two equal conditions may lie apart: 1 unless they differ, 0 if nobody knows
}

// Claim is what a file says about a current claim.
func (f *File) Claim(id string) (Claim, bool) {
	return strict.Find(f.Claims, func(c Claim) bool { return c.ID == id })
}
