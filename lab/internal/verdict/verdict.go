// Package verdict says what a run makes of its experiment's claims.
//
// Its stance: fail closed. A run too small for an interval, trials that a gate
// refused, a client that was the wall, or a precondition that was not met each
// have a verdict of their own, and none of them is "reproduced". Not having
// seen a difference is inconclusive. What was not recorded is neither room nor
// evidence against a claim.
//
// A comparison of two levels is decided only where two witnesses agree: the
// exact interval of the median ratio, which has no model and is not corrected,
// lies on one side of the claim's band; and Student's t on the logarithms of
// the same ratios says so (TOST for a band with two edges). A claim needs all
// of its comparisons to be reproduced, so its p is the largest of theirs; any
// one refutes it, so its p then is the smallest, times their number. These p
// are corrected by Holm's rule over all claims about ratios that the run
// decides. A claim stands in the correction once, with the answer that its
// figures point to, since only one of its two answers can be wrong. Which one
// that is, is read off the same data, and no theorem covers Holm's rule then.
// What there is instead is a simulation: TestStatedErrorRatesOfVerdicts counts
// wrong answers of several claims at their edges together, for each kind of
// noise and number of blocks, and fails above one run in twenty.
//
// Claims about counts, bounds and profiles take no part: they are held against
// every trial as it was counted, and there is no sampling error to correct. A
// share has to lie on the claim's side in all trials, and is refuted only where
// it lies on the other in all.
//
// A run's A/A control, the same levels measured twice, is held to the same
// rule. Where it differs, or too little of it is left to tell, no claim about
// ratios is decided by that run.
//
// Its limit: with six blocks the exact interval is the range of the ratios, so
// one odd block leaves a claim open, and no p mends that.
package verdict

import (
	"github.com/line-rate/line-rate/lab/internal/bound"
	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/stats"
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
		return "both witnesses, the exact interval and the corrected t test, put every ratio that bears on the claim on its side of the margin"
	case Refuted:
		return "both witnesses put a ratio wholly on the other side of the margin, or a count or a wall is another than claimed"
	case Inconclusive:
		return "the run cannot tell: an interval crosses the margin, the witnesses disagree, the control differed, or there are too few blocks"
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
	Warnings      []string  `json:"warnings,omitempty"`
	Claims        []Claim   `json:"claims"`
	Conditions    []Summary `json:"conditions"`        // without the control
	Control       *Control  `json:"control,omitempty"` // the A/A control, of a run that has one
	// Design is the SHA-256 of the experiment's file as it was when the run was
	// made; data/designs has it. Withdrawn are those of its claims that the
	// experiment has no longer, or not so.
	Design    string  `json:"design,omitempty"`
	Withdrawn []Claim `json:"withdrawn,omitempty"`
	// BoundsNow gives, by place, what bounded trials for which the results file
	// names only the first of several walls.
	BoundsNow map[int]bound.Bound `json:"bounds_now,omitempty"`
}

// A Claim is one claim's verdict in one run.
type Claim struct {
	ID      string  `json:"id"`
	Verdict Verdict `json:"verdict"`
	// SingleRun is "agrees" or "disagrees": what the point figures of one run
	// say, which is never enough for a verdict.
	SingleRun string          `json:"single_run,omitempty"`
	Reason    string          `json:"reason"`
	P         *float64        `json:"p,omitempty"`        // after Holm's correction; absent where the witnesses disagree
	Warnings  []stats.Warning `json:"warnings,omitempty"` // of any of its comparisons
	Bounds    map[string]int  `json:"bounds,omitempty"`   // valid trials by what bounded them
	Effects   []Effect        `json:"effects,omitempty"`
}

// An Effect is one comparison: a metric at levels A over that at levels B.
// What needs an interval is absent where there is none.
type Effect struct {
	Metric string         `json:"metric"`
	A      setting.Levels `json:"a,omitempty"` // absent in a control, whose levels are the same
	B      setting.Levels `json:"b,omitempty"`
	At     setting.Levels `json:"at,omitempty"` // levels of the other factors
	Pairs  int            `json:"pairs"`
	Ratio  float64        `json:"ratio,omitempty"` // median of the per-block ratios; absent without a pair, or where only a range is known
	// RatioLow and RatioHigh stand instead of Ratio where figures are coarse: the
	// medians of the least and the greatest ratios that they may stand for.
	// Without RatioHigh, or High below, there is no upper end.
	RatioLow  float64 `json:"ratio_low,omitempty"`
	RatioHigh float64 `json:"ratio_high,omitempty"`
	Low       float64 `json:"low,omitempty"`       // exact interval
	High      float64 `json:"high,omitempty"`      // as Low
	BandLow   float64 `json:"band_low,omitempty"`  // where the claim wants the ratio; absent without that edge
	BandHigh  float64 `json:"band_high,omitempty"` // as BandLow
	// PInside and POutside are the t test's p of the ratio's lying in the band
	// and outside of it, uncorrected.
	PInside  *float64 `json:"p_inside,omitempty"`
	POutside *float64 `json:"p_outside,omitempty"`
	BootLow  float64  `json:"boot_low,omitempty"`  // bootstrap interval of the ratio of the medians
	BootHigh float64  `json:"boot_high,omitempty"` // as BootLow
	// SmallestEffect is the ratio that as many blocks of this noise would have
	// told from 1, or from a bar.
	SmallestEffect float64 `json:"smallest_effect,omitempty"`
	BlocksNeeded   int     `json:"blocks_needed,omitempty"` // to decide what was seen, where it was not
	BlocksOver     int     `json:"blocks_over,omitempty"`   // more than so many, instead
}

// An Outcome is what an A/A control showed.
type Outcome string

// The outcomes of a control.
const (
	Same      Outcome = "no-difference-seen"
	Differs   Outcome = "differs"
	Undecided Outcome = "undecided"
)

// A Control is a condition that was measured twice under two names. Whatever
// tells the two apart is not the server.
type Control struct {
	Of        string   `json:"of"` // id of the condition that it repeats
	Outcome   Outcome  `json:"outcome"`
	Reason    string   `json:"reason"`
	Condition Summary  `json:"condition"`
	Effects   []Effect `json:"effects,omitempty"` // the control over what it repeats
}

// A Summary is what one condition's valid trials showed.
type Summary struct {
	ID      string            `json:"id"`
	Levels  setting.Levels    `json:"levels"`
	Trials  int               `json:"trials"`
	Invalid int               `json:"invalid"`
	Bounds  map[string]int    `json:"bounds"`
	Metrics map[string]Figure `json:"metrics"`
	// Profiles are medians over the trials, figure by figure. A package in some
	// of them only may have one of nought; what is not there was in none.
	Profiles []profiles.Profile `json:"profiles,omitempty"`
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
