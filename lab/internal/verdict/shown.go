package verdict

import "github.com/line-rate/line-rate/lab/internal/profile"

// A Table has a run's figures as pages print them, one row per condition and
// one column per metric. Pages choose rows and columns from it, so a figure has
// the same digits wherever it is shown.
type Table struct {
	Keys    []string    `json:"keys"` // settings that name a row; the experiment's factors come first
	Columns []TableHead `json:"columns"`
	Rows    []TableRow  `json:"rows"` // in the order of their levels, the A/A control last
}

// A TableHead is that of a metric's column, with the unit that all its figures share.
// The unit is empty if the metric has none, or if printed figures have several
// and keep them.
type TableHead struct {
	Metric string `json:"metric"`
	Unit   string `json:"unit"`
}

// A TableRow is one condition. Medians and Intervals have one text per column; it
// is empty where a metric was not recorded, or an interval's ends are printed
// alike.
type TableRow struct {
	ID        string   `json:"id"`
	Control   bool     `json:"control,omitempty"` // whether it is the A/A control
	Levels    []string `json:"levels"`            // one per key; empty where the condition lacks it
	Medians   []string `json:"medians"`
	Intervals []string `json:"intervals,omitempty"` // absent if no figure of the row has one
	// what the trials were bounded by, and for measured runs how many of them
	Bounds  string `json:"bounds,omitempty"`
	Trials  int    `json:"trials"`            // those that count
	Invalid int    `json:"invalid,omitempty"` // those that do not
}

// A Span is the range of a claim's comparisons, those without a complete block
// left out.
type Span struct {
	Of   int    `json:"of"` // comparisons with a complete block
	Text string `json:"text,omitempty"`
}

// A Profiled has one kind of profile under a condition: medians over the trials that
// count, and what pages write of them.
type Profiled struct {
	profile.Profile
	Shares map[string]string `json:"shares,omitempty"` // percentages of the kinds of work and of the packages, by name
	Cells  []string          `json:"cells,omitempty"`  // the condition's column in the run's WorkTable
	Raw    *RawFile          `json:"raw,omitempty"`    // absent where the run has no file
}

// A RawFile is a file of data/profiles: all trials that count, merged.
type RawFile struct {
	File   string `json:"file"`
	SHA256 string `json:"sha256"`
	Trials int    `json:"trials"`
}

// A WorkTable is the head of a run's table of one kind of profile by kind of work. Its
// last row is the total.
type WorkTable struct {
	Unit string    `json:"unit,omitempty"` // of the totals
	Rows []WorkRow `json:"rows"`           // the largest share first
}

// A WorkRow names one kind of work.
type WorkRow struct {
	Work  profile.Work `json:"work"`
	Label string       `json:"label"`
}
