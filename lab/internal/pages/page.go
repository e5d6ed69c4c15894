// Package pages says what pages show of verdicts: a run's tables, figures in
// words and profiles, and what the records of all hosts say about each claim.
//
// It decides nothing. What it says of numbers is printed by package words.
package pages

import (
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/medians"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A Page has what pages show of a run: its verdicts, and what they need of its
// results file.
type Page struct {
	verdict.File
	Results PageRecorded `json:"results"`
	// Together is what entries show of a record of several runs.
	Together *PageTogether `json:"together,omitempty"`
}

// A PageTogether has the figures of all blocks of a record.
type PageTogether struct {
	verdict.Together
	Blocks int `json:"blocks"`
}

// A PageRecorded is what pages show of a results file.
type PageRecorded struct {
	Provenance PageProvenance `json:"provenance"`
	Bounds     string         `json:"bounds,omitempty"` // of the trials that count, most frequent first
}

// A PageProvenance is what pages show of how a run was made.
type PageProvenance struct {
	StartedAt  time.Time         `json:"started_at"`
	FinishedAt time.Time         `json:"finished_at"`
	Blocks     int               `json:"blocks,omitempty"`
	LeftOut    []results.LeftOut `json:"left_out,omitempty"`
}

// PageOf makes the page of a run from its verdicts and its results file, and
// leaves both as they are.
func PageOf(f *verdict.File, r *results.File) *Page {
	made := r.Provenance
	p := &Page{File: *f, Results: PageRecorded{
		Provenance: PageProvenance{made.StartedAt, made.FinishedAt, made.Blocks, made.LeftOut}}}
	bounds := map[string]int{}
	for _, c := range f.Conditions {
		for bound, n := range c.Bounds {
			bounds[bound] += n
		}
	}
	p.Results.Bounds = words.Bounds(bounds, true)
	if f.Together != nil {
		p.Together = &PageTogether{*f.Together, f.Record.Blocks}
	}
	if f.Control != nil {
		// Pages have the control's figures from the table.
		control := *f.Control
		control.Condition.Metrics = map[string]medians.Figure{}
		p.Control = &control
	}
	return p
}

// Shorten leaves out what the record says.
func (p *Page) Shorten() {
	p.Claims, p.Conditions, p.Control, p.Table, p.Relative, p.Together, p.WorkTables = nil, nil, nil, nil, nil, nil, nil
}

// Fill adds to a run's verdicts what pages and reports show of them. x is the experiment
// as it is now.
func Fill(f *verdict.File, x *experiment.Experiment) {
	fillWords(f, x)
	var again *medians.Summary
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
