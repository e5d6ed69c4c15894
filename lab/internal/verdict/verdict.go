// Package verdict says what a host's runs make of an experiment's claims.
//
// Its stance: fail closed. Too few blocks, trials that a gate refused, a client
// that was the wall, or a precondition that was not met each have a verdict of
// their own, and none of them is "reproduced". Not having seen a difference is
// inconclusive. What was not recorded is neither room nor evidence against a
// claim.
//
// Blocks decide, and a block has one vote. All blocks of one claim's design on
// one host count together, whichever runs measured them: they are the claim's
// record. A comparison (a metric at one level over another) gives one ratio a
// block. The claim wants it in a band, and is about the median block: of each edge
// of the band it says that half of all blocks or more lie inside. A block speaks
// for an edge if its whole range lies inside, against it if its whole range lies
// beyond, and else it cannot tell. One that cannot tell, as where the client was
// the wall, still counts in the total, so it weighs against both answers. A claim
// about walls, or about shares of a profile, has one vote a block in the same way.
//
// Why a wrong answer is as seldom as said. An experiment may give any wrong answer
// with a chance of stats.Alpha, 0.05. Each of the m claims that blocks decide has
// an equal part, alpha/m; m is fixed by the design and by the host's cores, since
// nothing wrong can be said of a claim that needs more of them. A claim is reproduced where
// every edge has an e-value of m/alpha or more for "more than half of all blocks
// lie inside". If the claim is false, at most half lie inside of some edge, and
// the e-value of that edge ever comes so high with a chance of alpha/m (Ville's
// inequality, see package stats). A claim is refuted where any of its edges, e of
// them over all comparisons, has one of m·e/alpha or more for "more than half lie
// beyond". If the claim is true, at most half lie beyond each, and the chances add
// up to alpha/m again. A claim is true or false, so only one of the two can be
// wrong. All of it holds at every block, hence wherever one stops, and whatever
// made one stop. The figure that counts is the one at the present number of
// blocks: a claim that was decided may become open again by further blocks.
// TestWrongVerdictsOfWholeCampaigns counts wrong answers of made-up campaigns.
//
// A core that a neighbour slows all through a block slows all of its conditions
// alike, so the block counts, but for claims that a CPU is the wall, or that need it
// to be: what filled the core may be the neighbour.
//
// Two rules only ever take decisions away. A run's A/A control, the same levels
// measured twice, is pooled and bet on like a comparison; where it differs, blocks
// decide nothing. And runs that lie further apart than their blocks explain are
// said to differ.
//
// Claims about counts, and about what is gone from a profile, are held against
// every block as it was counted: there is no sampling error to share, and one
// contradiction refutes.
//
// Its limits: what tells one day from the next, and not one block from the next,
// is in all blocks of a run, and no count of blocks sees it; that is what runs of
// several days are for. And blocks are left out in which a compared trial is
// invalid, so a gate that closes by what a trial shows would choose.
package verdict

import (
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/stats"
)

// Version is the schema version of the verdict files.
const Version = 2

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
		return "so many of all blocks lie on the claim's side of every edge that chance would bring it about in one experiment of twenty at the most"
	case Refuted:
		return "so many of all blocks lie beyond an edge of what is claimed, or a count or a profile is another than claimed"
	case Inconclusive:
		return "the blocks so far cannot tell: too few lie on either side, runs or the control differ, or there are fewer than six"
	case Invalid:
		return "the trials cannot bear the claim: a gate refused too many, or the client was the wall"
	case NotApplicable:
		return "a precondition of the claim is not met on this host or in these runs"
	}
	return ""
}

// A File is what the record said of all claims of a run when that run had been
// added, with the figures that pages show. It is derived: `lab verdicts` makes it
// anew from the results files. The file of a host's newest run is the record as
// it stands.
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
	Size          string    `json:"size,omitempty"`   // smoke or full, of a measured run of version 1
	Blocks        int       `json:"blocks,omitempty"` // of this run, if measured; version 1 has those that were planned
	Topology      string    `json:"topology"`
	LineRateBps   float64   `json:"line_rate_bps,omitempty"`
	Trials        int       `json:"trials"`
	InvalidTrials int       `json:"invalid_trials"`
	Warnings      []string  `json:"warnings,omitempty"`
	Record        *Record   `json:"record,omitempty"` // what the verdicts of a measured run rest on
	Claims        []Claim   `json:"claims"`
	Conditions    []Summary `json:"conditions"`        // of this run alone, without the control
	Control       *Control  `json:"control,omitempty"` // the A/A control, where the record has one
	// Design is the SHA-256 of the experiment's file as it was when the run was
	// made; data/designs has it. Withdrawn are those of its claims that the
	// experiment has no longer, or not so.
	Design string `json:"design,omitempty"`
	// EarlierDesign marks a run that an earlier design of the lab measured. Earlier
	// are those of its claims whose names the experiment still has: they are no
	// verdicts of today's, and Claims is empty then.
	EarlierDesign bool    `json:"earlier_design,omitempty"`
	Earlier       []Claim `json:"earlier,omitempty"`
	Withdrawn     []Claim `json:"withdrawn,omitempty"`
	// BoundsNow gives, by place, what bounded trials for which the results file
	// names only the first of several walls.
	BoundsNow map[int]gate.Bound `json:"bounds_now,omitempty"`
}

// A Record says what verdicts rest on.
type Record struct {
	Runs   []string `json:"runs"`   // those of the last one's design, oldest first
	Blocks int      `json:"blocks"` // with a valid trial under every condition
	Claims int      `json:"claims"` // that blocks decide, and that share stats.Alpha
}

// A Claim is what the record says of one claim.
type Claim struct {
	ID      string  `json:"id"`
	Verdict Verdict `json:"verdict"`
	// SingleRun is "agrees" or "disagrees": what the point figures of one run
	// say, which is never enough for a verdict.
	SingleRun string `json:"single_run,omitempty"`
	Reason    string `json:"reason"`
	// Blocks are the complete ones, of so many Runs. For and Against count those
	// that speak for the claim and against it; where it has several comparisons, of
	// the one that decides.
	Blocks  int `json:"blocks,omitempty"`
	Runs    int `json:"runs,omitempty"`
	For     int `json:"for,omitempty"`
	Against int `json:"against,omitempty"`
	// Open says that further blocks could decide the claim, and BlocksNeeded about
	// how many would, if they went on as so far; absent where that cannot be said.
	Open         bool            `json:"open,omitempty"`
	BlocksNeeded int             `json:"blocks_needed,omitempty"`
	Warnings     []stats.Warning `json:"warnings,omitempty"` // of any of its comparisons
	Bounds       map[string]int  `json:"bounds,omitempty"`   // valid trials by what bounded them
	Effects      []Effect        `json:"effects,omitempty"`
}

// An Effect is one comparison: a metric at levels A over that at levels B.
// What needs an interval is absent where there is none.
type Effect struct {
	Metric  string         `json:"metric"`
	A       setting.Levels `json:"a,omitempty"` // absent in a control, whose levels are the same
	B       setting.Levels `json:"b,omitempty"`
	At      setting.Levels `json:"at,omitempty"`      // levels of the other factors
	Blocks  int            `json:"blocks"`            // complete ones
	Pairs   int            `json:"pairs"`             // of them, those that can tell: they have a ratio
	For     int            `json:"for,omitempty"`     // whole range in the band
	Against int            `json:"against,omitempty"` // whole range beyond an edge
	Decides bool           `json:"decides,omitempty"` // of the claim's comparisons, the one whose counts are the claim's
	Ratio   float64        `json:"ratio,omitempty"`   // median of the per-block ratios; absent without a pair, or where only a range is known
	// RatioLow and RatioHigh stand instead of Ratio where figures are coarse: the
	// medians of the least and the greatest ratios that they may stand for.
	// Without RatioHigh, or High below, there is no upper end.
	RatioLow  float64 `json:"ratio_low,omitempty"`
	RatioHigh float64 `json:"ratio_high,omitempty"`
	// Low and High are the confidence sequence of the median ratio at the claim's
	// part of stats.Alpha. It has two sides where a verdict asks for one, so it may
	// reach a little over an edge that is decided.
	Low      float64 `json:"low,omitempty"`
	High     float64 `json:"high,omitempty"`
	BandLow  float64 `json:"band_low,omitempty"`  // where the claim wants the ratio; absent without that edge
	BandHigh float64 `json:"band_high,omitempty"` // as BandLow
	// EFor is the e-value of "more than half of all blocks lie inside", of the edge
	// that has the least; EAgainst that of "beyond", of the edge that has the most.
	// Both are rounded, and never above 1e12.
	EFor         float64 `json:"e_for,omitempty"`
	EAgainst     float64 `json:"e_against,omitempty"`
	BlocksNeeded int     `json:"blocks_needed,omitempty"` // as a claim's
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
