// Package verdict decides what a host's runs say about an experiment's claims.
//
// It fails closed. Too few blocks, trials refused by a gate, a client that was
// the wall, and unmet preconditions each have a verdict of their own, and none
// of them is "reproduced". Not having seen a difference is inconclusive. An
// unrecorded bound is not evidence for room or against a claim.
//
// Visits decide. A claim's record is all blocks of its design on one host,
// whichever runs measured them, and a visit is the blocks of one stay
// (results.Visits). A comparison (a metric at one level over the same metric at
// another) gives one ratio a block. The claim wants the ratio of the median block
// in a band: for each edge of the band, at least half of all blocks are inside of
// the edge. A block is for an edge if the whole range of its ratio is inside,
// against it if the whole range is beyond, and otherwise cannot tell. The vote of a
// visit is that of its first block, +1 or -1; its further blocks are shown and not
// bet on. Their mean would waste less, but a run may be stopped after any block,
// and whoever stops a visit while it is ahead would have a mean that is above 0
// where the truth is on the edge. A block that cannot tell, for
// example because the client was the wall or a gate refused a trial, votes -1 on
// both sides, and so makes both answers harder to reach. A claim about walls, or
// about shares of a profile, has one vote a block in the same way.
//
// The probability that an experiment's question gets any wrong verdict on a host is
// at most stats.Alpha, 0.05, over all the designs that it was ever asked with: the
// jth design of the journal that was measured has alpha/(j(j+1)) of it. This is
// divided equally over the m claims that visits decide in that design. They are all
// that any run was made with, withdrawn ones too, but for those that need more
// cores than the host has, which cannot get a wrong verdict there. With the bar
// b = m j (j+1)/alpha, a claim is reproduced if each edge has an e-value of at least
// b for "more than half of all blocks are inside". If the claim is false, at most
// half are inside of some edge, and the probability that this edge's e-value ever
// gets so high is at most 1/b (Ville's inequality, see package stats). A claim is
// refuted if the mean, over all edges of its comparisons, of the e-values for "more
// than half are beyond" is at least b. If the claim is true, at most half are
// beyond each edge, so each of these is a fair bet, and so is their mean. A claim is
// either true or false, so only one of the two errors is possible. This holds at
// every visit, hence whenever and for whatever reason a run stops. The e-value at
// the present number of visits decides, so further ones may open a decided claim
// again. The simulation in campaign_test.go counts the wrong verdicts of made-up
// campaigns.
//
// If another program slows a core during a whole block, it slows all conditions
// alike, so the block counts. A trial in slots tells the wall by the CPU time of the
// server's own processes. The figure of one in one piece has other programs in it, so
// claims that a CPU was the wall, or that need it to be, then pass the block over.
//
// One further rule can only take decisions away. The blocks of all A/A controls
// (the same levels measured twice) are pooled and tested like a comparison; if the
// control differs, visits decide nothing.
//
// Claims about counts, and about what is gone from a profile, are compared with
// every block as counted: there is no sampling error, and one contradiction
// refutes. Nobody bets on them, so six blocks that can tell decide, of whatever visits.
//
// Limits: the bet supposes that nobody can foretell on which side of the edge the
// next visit falls, where the truth lies on the edge. What moves a ratio for many
// visits, as a neighbour that stays for an hour or a kernel until its next update,
// is in all of them, and they count as more evidence than they are. Visits on
// several days are the remedy.
package verdict

import (
	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// Version is the schema version of the verdict files.
const Version = 2

// A Verdict is what a record says about a claim.
type Verdict string

// The verdicts; Meaning has a sentence on each.
const (
	Reproduced    Verdict = "reproduced"
	Refuted       Verdict = "refuted"
	Inconclusive  Verdict = "inconclusive"
	Invalid       Verdict = "invalid"
	NotApplicable Verdict = "not-applicable"
)

// Meaning explains a verdict in one sentence; empty if there is no such verdict.
func (v Verdict) Meaning() string { return meanings[v] }

var meanings = map[Verdict]string{
	Reproduced: "in so many visits the blocks lie on the claim's side of every edge that chance would bring it about in " +
		"one experiment of twenty at the most",
	Refuted: "in so many visits the blocks lie beyond an edge of what is claimed, or a count or a profile is another " +
		"than claimed",
	Inconclusive: "the blocks so far cannot tell: too few lie on either side, the control differs, or they are of fewer " +
		"than seven visits",
	Invalid:       "the trials cannot bear the claim: a gate refused too many, or the client was the wall",
	NotApplicable: "a precondition of the claim is not met on this host or in these runs",
}

// A File has what the record said about all claims of a run once that run was
// added, and the figures of its conditions. Package pages fills in what pages show of
// it. It is derived: `lab derive` makes it from the results files. The file of a
// host's newest run has the present state of the record.
type File struct {
	SchemaVersion int       `json:"schema_version"`
	Experiment    string    `json:"experiment"`
	Entry         string    `json:"entry"`
	Run           string    `json:"run"`
	Host          string    `json:"host"` // the server's host
	ClientHost    string    `json:"client_host"`
	Date          string    `json:"date"`             // day the run started
	Started       string    `json:"started"`          // for ordering
	Blocks        int       `json:"blocks,omitempty"` // of this run
	Topology      string    `json:"topology"`
	LineRateBps   float64   `json:"line_rate_bps,omitempty"`
	Trials        int       `json:"trials"`
	InvalidTrials int       `json:"invalid_trials"`
	Warnings      []string  `json:"warnings,omitempty"`
	Record        *Record   `json:"record,omitempty"` // what the verdicts rest on
	Claims        []Claim   `json:"claims"`
	Conditions    []Summary `json:"conditions"`         // of this run alone, without the control
	Control       *Control  `json:"control,omitempty"`  // absent where the record has no control
	Table         *Table    `json:"table,omitempty"`    // of this run alone; absent where it has no condition
	Relative      *Relative `json:"relative,omitempty"` // absent where the design asks for none
	// Together has the figures of all blocks of the record; absent where that is this run alone.
	Together *Together `json:"together,omitempty"`
	// Design is the SHA-256 of the experiment's file as it was when the run was
	// made, which git has.
	Design string `json:"design,omitempty"`
	// Written is the commit that had the experiment's file before the run, by what
	// the run recorded. It is absent for a run without trials, and for one that says
	// that files differed from its commit. `lab check` asks git whether it is true.
	Written string `json:"written,omitempty"`
	// WorkTables are those of profiles by kind of work.
	WorkTables map[profile.Kind]WorkTable `json:"work_tables,omitempty"`
}

// A Together has the figures of all blocks of a record, without profiles.
type Together struct {
	Conditions []Summary `json:"conditions"`
	Table      *Table    `json:"table,omitempty"`
}

// A Record describes what verdicts rest on.
type Record struct {
	Runs   []string `json:"runs"`   // runs of the last run's design, oldest first
	Blocks int      `json:"blocks"` // with a valid trial under every condition
	Visits int      `json:"visits"` // to which these blocks belong
	Nth    int      `json:"nth"`    // of the designs of the experiment's question, this one's number
	Claims int      `json:"claims"` // claims that visits decide, which divide the design's part of stats.Alpha
	Asks   float64  `json:"asks"`   // the e-value that decides one of them
	// Programs tells the programs that it holds by the first digits of what they are
	// made of, or of their files' digests; absent where runs name none.
	Programs map[string]string `json:"programs,omitempty"`
}

// A Claim is what the record says about one claim.
type Claim struct {
	ID      string  `json:"id"`
	Verdict Verdict `json:"verdict"`
	Reason  string  `json:"reason"`
	// Blocks is the number of blocks that were begun, Visits and Runs the numbers of
	// visits and of runs that they come from. For and Against count the blocks for and against the claim; if it
	// has several comparisons, those of the one that decides.
	Blocks  int `json:"blocks,omitempty"`
	Visits  int `json:"visits,omitempty"`
	Runs    int `json:"runs,omitempty"`
	For     int `json:"for,omitempty"`
	Against int `json:"against,omitempty"`
	// Open says that further visits could decide the claim. VisitsNeeded estimates
	// how many visits of one block, if they go on as before; absent if unknown.
	Open         bool            `json:"open,omitempty"`
	VisitsNeeded int             `json:"visits_needed,omitempty"`
	Warnings     []stats.Warning `json:"warnings,omitempty"` // of all its comparisons
	Bounds       map[string]int  `json:"bounds,omitempty"`   // number of valid trials by bound
	Effects      []Effect        `json:"effects,omitempty"`
	Span         *Span           `json:"span,omitempty"` // absent with one comparison or none
}

// An Effect is one comparison: a metric at levels A over the same metric at
// levels B. Fields that need an interval are absent where there is none.
type Effect struct {
	Metric  string         `json:"metric"`
	A       setting.Levels `json:"a,omitempty"` // absent in a control, whose levels are equal
	B       setting.Levels `json:"b,omitempty"`
	At      setting.Levels `json:"at,omitempty"`      // levels of the other factors
	Blocks  int            `json:"blocks"`            // blocks that were begun
	Visits  int            `json:"visits"`            // to which they belong
	Pairs   int            `json:"pairs"`             // those that can tell, and so have a ratio
	For     int            `json:"for,omitempty"`     // blocks with the whole range in the band
	Against int            `json:"against,omitempty"` // blocks with the whole range beyond an edge
	Decides bool           `json:"decides,omitempty"` // whether the claim's counts are those of this comparison
	// median of the per-block ratios; absent without a pair, or if only a range is known
	Ratio float64 `json:"ratio,omitempty"`
	// RatioLow and RatioHigh replace Ratio where figures are coarse: the medians
	// of the smallest and of the largest ratios that the figures allow. An absent
	// RatioHigh, or High below, means no upper end.
	RatioLow  float64 `json:"ratio_low,omitempty"`
	RatioHigh float64 `json:"ratio_high,omitempty"`
	// Low and High are the confidence sequence of the median ratio at the claim's
	// part of stats.Alpha. It has two sides while a verdict needs one, so it may
	// reach a little over an edge that is decided.
	Low      float64 `json:"low,omitempty"`
	High     float64 `json:"high,omitempty"`
	BandLow  float64 `json:"band_low,omitempty"`  // edges of the claim's band; absent without that edge
	BandHigh float64 `json:"band_high,omitempty"` // as BandLow
	// EFor is the e-value of "more than half of all blocks are inside", for the
	// edge where it is smallest. EAgainst is that of "more than half are beyond", in
	// the mean of the edges. Both are rounded, and at most 1e12.
	EFor         float64 `json:"e_for,omitempty"`
	EAgainst     float64 `json:"e_against,omitempty"`
	VisitsNeeded int     `json:"visits_needed,omitempty"` // estimate; absent if unknown
	words.Words          // of the ratio
	// Percent and Change are the ratio in percent, "135", and as a change, "+35".
	Percent string `json:"percent,omitempty"`
	Change  string `json:"change,omitempty"`
	// Spread says how far the blocks' ratios lie apart, where they are too few for an interval.
	Spread string `json:"spread,omitempty"`
}

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
	Of        string   `json:"of"` // id of the repeated condition
	Outcome   Outcome  `json:"outcome"`
	Reason    string   `json:"reason"`
	Condition Summary  `json:"condition"`
	Effects   []Effect `json:"effects,omitempty"` // the control over the repeated condition
	// whether the run itself has one, and not only earlier ones of its record
	InRun bool `json:"-"`
}

// A Summary has the medians of one condition's valid trials.
type Summary struct {
	ID      string            `json:"id"`
	Name    string            `json:"name,omitempty"` // as charts show it; absent for the control, as Shown
	Levels  setting.Levels    `json:"levels"`
	Shown   map[string]string `json:"shown,omitempty"` // levels as pages print them
	Trials  int               `json:"trials"`
	Invalid int               `json:"invalid"`
	Bounds  map[string]int    `json:"bounds"`
	// ClientWall says that in most trials the client was full and the server was
	// not.
	ClientWall bool              `json:"client_wall,omitempty"`
	Metrics    map[string]Figure `json:"metrics"`
	// Profiles are medians over the trials, figure by figure. A package that is
	// only in some trials may have 0; a package that is not listed was in none.
	Profiles []Profiled `json:"profiles,omitempty"`
	Words    string     `json:"words,omitempty"` // the levels in words, where a table of profiles has them
}

// A Figure is a metric's median over a condition's valid trials.
type Figure struct {
	N           int      `json:"n"`
	Median      *float64 `json:"median,omitempty"`
	Low         *float64 `json:"low,omitempty"`  // interval of the median; absent below six trials
	High        *float64 `json:"high,omitempty"` // as Low
	Below       *float64 `json:"below,omitempty"`
	Printed     string   `json:"printed,omitempty"` // of a text, as printed
	words.Words          // absent where Printed is known, and for metrics that pages do not show
	// LineShare is a figure of the wire in percent of the line rate, if that is
	// known: "96.4".
	LineShare string `json:"line_share,omitempty"`
}

// Claim is what a file says about a claim that stands.
func (f *File) Claim(id string) (Claim, bool) { return ClaimIn(f.Claims, id) }

// ClaimIn finds a claim by its id.
func ClaimIn(claims []Claim, id string) (Claim, bool) {
	return strict.Find(claims, func(c Claim) bool { return c.ID == id })
}
