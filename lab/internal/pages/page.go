// Package pages says what pages and reports show of verdicts: a run's tables, figures in
// words and profiles, and what the records of all hosts say about each claim.
//
// It decides nothing. What it says of numbers is printed by package words.
package pages

import (
	"slices"
	"strconv"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

// A Page has what pages show of a run: its verdicts, and what they need of its
// results file. The verdict file also has the median of every metric, and the
// results file the slots and cores of every trial. With thousands of runs,
// reading all of that would take most of the time in which the site is built.
type Page struct {
	verdict.File
	Conditions []PageCondition `json:"conditions"`
	// Recorded is how many metrics the condition with most of them has.
	Recorded int          `json:"recorded,omitempty"`
	Results  PageRecorded `json:"results"`
	// Together is what entries show of a record of several runs.
	Together *PageTogether `json:"together,omitempty"`
	// Packed tells that the page is without trials and the run's files are compressed; Hosts.Shows
	// says which are.
	Packed bool `json:"packed,omitempty"`
}

// Said is the verdict file without what pages lay out anew from it and from the results.
func Said(f *verdict.File) *verdict.File {
	said := *f
	said.Each, said.Table = nil, nil
	if f.Together != nil {
		said.Together = &verdict.Together{Conditions: f.Together.Conditions}
	}
	return &said
}

// Pack leaves out the trials.
func (p *Page) Pack() { p.Packed, p.Each, p.Results.Trials = true, nil, nil }

// A PageTogether has the figures of all blocks of a record.
type PageTogether struct {
	Conditions []PageCondition `json:"conditions"`
	Table      *verdict.Table  `json:"table"`
	Blocks     int             `json:"blocks"`
}

// A PageCondition has the figures of a condition that pages print in words.
// Others names the remaining ones, separated by blanks: they are in the verdict
// file.
type PageCondition struct {
	verdict.Summary
	Others string `json:"others,omitempty"`
}

// A PageRecorded is what pages show of a results file. Trials are those of a
// measured run.
type PageRecorded struct {
	SchemaVersion int              `json:"schema_version"`
	Provenance    *PageProvenance  `json:"provenance,omitempty"`
	Topology      results.Topology `json:"topology"`
	Settings      setting.Levels   `json:"settings"`
	Shown         Values           `json:"shown"`              // of the settings, the wire, the block and the machine
	Commands      []string         `json:"commands,omitempty"` // of all conditions, in their order
	Profiled      bool             `json:"profiled,omitempty"` // whether it names raw profiles
	Trials        []PageTrial      `json:"trials,omitempty"`
	NotApplicable string           `json:"not_applicable,omitempty"`
	Warnings      []string         `json:"warnings,omitempty"`
}

// A PageProvenance has the seed as text, since templates read numbers as
// floats, which have room for 53 bits.
type PageProvenance struct {
	results.Provenance
	Seed string `json:"seed"`
}

// A PageTrial is a trial without its figures, which are in the File's Each.
type PageTrial struct {
	Seq       int              `json:"seq"`
	Block     int              `json:"block"`
	Condition string           `json:"condition"`
	Valid     bool             `json:"valid"`
	Reasons   []results.Reason `json:"reasons,omitempty"`
	Bound     gate.Bound       `json:"bound"`
	BoundWhy  string           `json:"bound_why,omitempty"`
	Slots     *PageSlots       `json:"slots,omitempty"`
}

// PageSlots has when the first slot of a trial began, and the requests of each.
type PageSlots struct {
	AtS      []float64 `json:"at_s"`
	Requests []int64   `json:"requests"`
}

// PageOf makes the page of a run from its verdicts and its results file, and
// leaves both as they are.
func PageOf(f *verdict.File, r *results.File) *Page {
	p := &Page{File: *f, Conditions: make([]PageCondition, 0, len(f.Conditions)), Results: recordedOf(r)}
	for _, c := range f.Conditions {
		p.Recorded = max(p.Recorded, len(c.Metrics))
		p.Conditions = append(p.Conditions, pageCondition(c))
	}
	if of := f.Together; of != nil {
		p.Together = &PageTogether{Table: of.Table, Blocks: f.Record.Blocks}
		p.Together.Conditions = strict.Called(of.Conditions, pageCondition)
	}
	if f.Control != nil {
		// Pages have the control's figures from the table.
		control := *f.Control
		control.Condition.Metrics = map[string]verdict.Figure{}
		p.Control = &control
	}
	if f.Each != nil {
		p.Results.Trials = pageTrials(r.Trials)
	}
	return p
}

// Fill adds to a run's verdicts what pages and reports show of them. x is the experiment
// as it is now.
func Fill(f *verdict.File, x *experiment.Experiment) {
	fillWords(f, x)
	var again *verdict.Summary
	for i := range f.Conditions {
		sumUp(f.Conditions[i].Profiles)
	}
	if f.Control != nil {
		sumUp(f.Control.Condition.Profiles)
		if f.Control.InRun {
			again = &f.Control.Condition
		}
	}
	f.Table = tableOf(x, f.Conditions, again, everywhere)
	if f.Together != nil {
		f.Together.Table = tableOf(x, f.Together.Conditions, nil, everywhere)
	}
	compared := ""
	if x.Profile != nil {
		compared = x.Profile.Compare
	}
	tabulate(f, compared)
}

func pageCondition(c verdict.Summary) PageCondition {
	out := PageCondition{Summary: c}
	out.Metrics = map[string]verdict.Figure{}
	var others []string
	for name, fig := range c.Metrics {
		if fig.Printed != "" || fig.Text != "" {
			out.Metrics[name] = fig
		} else {
			others = append(others, name)
		}
	}
	slices.Sort(others)
	out.Others = strings.Join(others, " ")
	return out
}

func recordedOf(r *results.File) PageRecorded {
	out := PageRecorded{
		SchemaVersion: r.SchemaVersion, Topology: r.Topology, Settings: r.Settings, Shown: valuesOf(r),
		NotApplicable: r.NotApplicable, Warnings: r.Warnings,
	}
	out.Provenance = &PageProvenance{*r.Provenance, strconv.FormatUint(r.Provenance.Seed, 10)}
	for _, c := range r.Conditions {
		out.Commands = append(out.Commands, c.Commands...)
		out.Profiled = out.Profiled || c.Profiles != nil
	}
	return out
}

func pageTrials(trials []results.Trial) []PageTrial {
	out := make([]PageTrial, len(trials))
	for i, t := range trials {
		out[i] = PageTrial{
			Seq: t.Seq, Block: t.Block, Condition: t.Condition, Valid: t.Valid,
			Reasons: slices.Clone(t.Reasons), Bound: t.Bound, BoundWhy: t.BoundWhy,
		}
		for k, r := range t.Reasons { // without the names of processes that are nobody's business
			out[i].Reasons[k].Detail = gate.Public(r.Gate, r.Detail)
		}
		if s := t.Slots; s != nil {
			out[i].Slots = &PageSlots{s.AtS[:min(1, len(s.AtS))], s.Requests}
		}
	}
	return out
}
