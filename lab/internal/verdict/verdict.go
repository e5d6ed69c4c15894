// Package verdict decides what a machine's runs say about an experiment's claims.
//
// A claim has one of three forms: the ratio of a metric between two levels lies in a
// band, a value (a metric, a count, a share of a profile) lies in a band, or a resource
// is the bottleneck. It may make several comparisons: a flat claim of three levels makes
// three.
//
// There is one rule. All blocks of a claim's design on one machine count together,
// whichever runs measured them. A block gives each comparison one ratio or value, and the
// interval of the median block (confseq.Median) decides: inside the band the comparison
// holds, outside it falls, else it is open. One comparison that falls refutes the claim;
// if all hold, it is confirmed. A bottleneck is asked of each block, and the share of yes is
// decided by the same bet. At a single edge only one of the two answers can be wrong, so
// each has the whole part of the error; in a band of two edges each has half. A verdict never
// contradicts the interval beside it: they are one thing. Only the first block of each
// visit (results.Visits) votes; the others are shown.
//
// A block of which a fault refused a trial enters no bet. One has no vote either where the
// figures are the client's, a figure is missing, or what the claim needs was not so. What
// is dropped is a selection, which can follow a condition. So it is counted and said, and a
// claim of which more than MostLost of the blocks have no vote stays open.
//
// The probability that an experiment's question gets any wrong verdict on a machine is
// at most stats.Alpha over all the designs that it was ever asked with: the jth design
// that was measured has alpha/(j(j+1)) of it. The m claims that any run of that design was
// made with divide this equally, withdrawn ones too, but for those that need more cores
// than the machine has. A claim of k comparisons gives each a kth of its part. All this
// holds whenever and for whatever reason a run stops. The present interval decides, so
// further visits may open a decided claim again.
//
// Two further rules can only take decisions away. If the A/A controls (the same levels
// measured twice) differ, nothing is decided. If what others ran on the cores follows one
// of two conditions and may explain their ratio, the claim stays open.
//
// Limits: nobody may be able to foretell on which side of an edge the next visit falls,
// where the truth lies on the edge. What moves a ratio for many visits, as a neighbour
// that stays for an hour, is in all of them, and they count as more evidence than they
// are. Visits on several days are the remedy.
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

// Version is the schema version of the verdict files.
const Version = 3

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
		Open: "the blocks so far do not tell, and the reason says why: too few visits, a median too near an edge, faults, " +
			"a client that was the bottleneck, or a control that differs",
		NotApplicable: "a precondition of the claim is not met on this host or in these runs",
	}[v]
}

// A File has what the record said about all claims of a run once that run was
// added, and the figures of its conditions. The file of a host's newest run has the present state of the record.
type File struct {
	SchemaVersion int               `json:"schema_version"`
	Experiment    string            `json:"experiment"`
	Entry         string            `json:"entry"`
	Run           string            `json:"run"`
	Host          string            `json:"host"` // the server's host
	ClientHost    string            `json:"client_host"`
	Date          string            `json:"date"`             // day the run started
	Started       string            `json:"started"`          // for ordering
	Blocks        int               `json:"blocks,omitempty"` // of this run
	Topology      string            `json:"topology"`
	LineRateBps   float64           `json:"line_rate_bps,omitempty"`
	Trials        int               `json:"trials"`
	InvalidTrials int               `json:"invalid_trials"`
	Record        *Record           `json:"record,omitempty"` // what the verdicts rest on
	Claims        []Claim           `json:"claims"`
	Conditions    []medians.Summary `json:"-"`                  // of this run, over all blocks of the record
	Control       *Control          `json:"control,omitempty"`  // absent where the record has no control
	Relative      *Relative         `json:"relative,omitempty"` // absent where the design asks for none
	Design        string            `json:"design,omitempty"`   // SHA-256 of the experiment's file as it was when the run was made
	// Written is the commit that had the experiment's file before the run, by what
	// the run recorded. It is absent for a run without trials, and for one that says
	// that files differed from its commit. `lab check` asks git whether it is true.
	Written string `json:"written,omitempty"`
}

// A Record describes what verdicts rest on.
type Record struct {
	Runs   []string `json:"runs"`   // runs of the last run's design, oldest first
	Blocks int      `json:"blocks"` // with a valid trial under every condition
	Nth    int      `json:"nth"`    // of the designs of the experiment's question, this one's number
	Claims int      `json:"claims"` // those that divide the design's part of stats.Alpha
	// Programs tells the programs that it holds by the first digits of what they are
	// made of, or of their files' digests; absent where runs name none.
	Programs map[string]string `json:"programs,omitempty"`
}

// A Claim is what the record says about one claim.
type Claim struct {
	ID      string  `json:"id"`
	Verdict Verdict `json:"verdict"`
	Reason  string  `json:"reason"`
	Blocks  int     `json:"blocks,omitempty"`  // that were begun
	Refused int     `json:"refused,omitempty"` // blocks of which a fault refused a trial
	Mute    int     `json:"mute,omitempty"`    // further blocks without a vote
	Visits  int     `json:"visits,omitempty"`  // that vote
	Runs    int     `json:"runs,omitempty"`    // that the blocks come from
	// For and Against count the blocks for and against the claim; if it makes several
	// comparisons, those of the one that decides.
	For     int `json:"for,omitempty"`
	Against int `json:"against,omitempty"`
	// VisitsNeeded estimates how many further visits would decide an open claim, if they
	// go on as before; absent if unknown.
	VisitsNeeded int            `json:"visits_needed,omitempty"`
	Bounds       map[string]int `json:"bounds,omitempty"` // number of valid trials by bound
	Effects      []Effect       `json:"effects,omitempty"`
}

// An Effect is one ratio: a metric at levels A over the same metric at
// levels B. Fields that need an interval are absent where there is none.
type Effect struct {
	Metric  string         `json:"metric"`
	A       setting.Levels `json:"a,omitempty"` // absent in a control, whose levels are equal
	B       setting.Levels `json:"b,omitempty"`
	At      setting.Levels `json:"at,omitempty"`      // levels of the other factors
	Blocks  int            `json:"blocks"`            // blocks that were begun
	Visits  int            `json:"visits"`            // those that vote
	Pairs   int            `json:"pairs"`             // blocks that count, and so have a ratio
	For     int            `json:"for,omitempty"`     // blocks with the whole range in the band
	Against int            `json:"against,omitempty"` // blocks with the whole range beyond an edge
	Decides bool           `json:"decides,omitempty"` // whether the claim's counts are those of this ratio
	// median of the per-block ratios; absent without a pair, or if only a range is known
	Ratio float64 `json:"ratio,omitempty"`
	// RatioLow and RatioHigh replace Ratio where figures are coarse: the medians
	// of the smallest and of the largest ratios that the figures allow. An absent
	// RatioHigh, or High below, means no upper end.
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

// An Outcome is what an A/A control showed.
type Outcome string

// The outcomes of a control.
const (
	Same      Outcome = "no-difference-seen"
	Differs   Outcome = "differs"
	Undecided Outcome = "undecided"
)

// A Control is a condition that was measured twice under two names. A
// difference between the two does not come from the server.
type Control struct {
	Of        string          `json:"of"` // id of the repeated condition
	Outcome   Outcome         `json:"outcome"`
	Reason    string          `json:"reason"`
	Condition medians.Summary `json:"condition"`
	Effects   []Effect        `json:"effects,omitempty"` // the control over the repeated condition
	// whether the run itself has one, and not only earlier ones of its record
	InRun bool `json:"-"`
}

// Claim is what a file says about a claim that stands.
func (f *File) Claim(id string) (Claim, bool) {
	return strict.Find(f.Claims, func(c Claim) bool { return c.ID == id })
}
