// Package calibration counts how often comparisons of a known truth were right: of a server
// with itself, and with a copy that burns a known share more CPU time a request. A File is what
// make calibrate measured on one machine, and Tables what pages show of all.
package calibration

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// Version is that of the schema of a File.
const Version = 1

// A File is one file of data/calibration. It is written again after each pair.
type File struct {
	SchemaVersion int               `json:"schema_version"`
	Host          string            `json:"host"`
	Machine       string            `json:"machine"` // its name
	Hosted        bool              `json:"hosted"`  // a kind of machine that a CI service lends, another for each run
	Kernel        string            `json:"kernel"`
	Go            string            `json:"go"`
	Commit        string            `json:"commit"`
	Dirty         bool              `json:"dirty"`    // whether the checkout differed from that commit
	Programs      map[string]string `json:"programs"` // SHA-256 by name
	StartedAt     string            `json:"started_at"`
	Margin        float64           `json:"margin"`
	BudgetS       float64           `json:"budget_s"`
	Each          int               `json:"pairs_each"` // pairs of each share that were asked for
	Plant         Plant             `json:"plant"`
	Pairs         []Pair            `json:"pairs"`
}

// A Plant is what was measured of the planted costs themselves, before any pair.
type Plant struct {
	CPUPerRequest float64   `json:"server_cpu_per_request_s"` // of the server with no planted cost
	Requests      int64     `json:"requests"`                 // that this rests on
	Shares        []Planted `json:"shares"`
}

// Planted is one share of CPU time a request, of so many steps of a loop.
type Planted struct {
	Share float64 `json:"share"` // that was asked for
	Steps int     `json:"steps"`
	// Known is the share by the steps, each of which was measured by a loop that doubles the cost.
	Known Span `json:"known"`
	// Counted is the share by as many requests to this server as to the one with no planted cost.
	Counted       Span    `json:"counted"`
	CPUPerRequest float64 `json:"server_cpu_per_request_s"`
	Requests      int64   `json:"requests"`
}

// A Span is a median with its interval of 95 %.
type Span struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// A Pair is what one call of linerate compare said.
type Pair struct {
	Share     float64         `json:"share"`
	StartedAt string          `json:"started_at"`
	Seed      uint64          `json:"seed"`
	DurationS float64         `json:"duration_s"`
	Blocks    int             `json:"blocks"`
	Refused   int             `json:"invalid_trials"`
	Verdict   compare.Verdict `json:"verdict"`
	Ratio     *compare.Ratio  `json:"ratio,omitempty"`
}

// Left counts the pairs of a share that are still to be made.
func (f *File) Left(share float64) int {
	return max(0, f.Each-strict.Count(f.Pairs, func(p Pair) bool { return p.Share == share }))
}

// Asks reports whether a file asks what another does of the same programs, for these shares in
// percent.
func (f *File) Asks(g *File, percent []float64) bool {
	same := slices.EqualFunc(f.Plant.Shares, percent, func(p Planted, v float64) bool { return p.Share == v/100 })
	return same && f.Host == g.Host && f.Margin == g.Margin && f.BudgetS == g.BudgetS && f.Each == g.Each &&
		maps.Equal(f.Programs, g.Programs)
}

// Read parses a file of data/calibration.
func Read(path string, data []byte) (*File, error) {
	f := &File{}
	if err := strict.DecodeJSON(data, f); err != nil {
		return nil, err
	}
	switch {
	case f.SchemaVersion != Version:
		return nil, fmt.Errorf("schema_version is %d; this lab reads %d", f.SchemaVersion, Version)
	case !regexp.MustCompile(`^`+regexp.QuoteMeta(f.Host)+`-\d+\.json$`).MatchString(filepath.Base(path)) || f.Host == "":
		return nil, fmt.Errorf("host is %q; the file's name is that and a number", f.Host)
	case f.Machine == "" || !(f.Margin > 0 && f.Margin < 1) || f.BudgetS <= 0 || f.Each < 1:
		return nil, fmt.Errorf("machine, margin, budget_s or pairs_each is missing or cannot be")
	}
	for i, p := range f.Pairs {
		switch {
		case f.planted(p.Share) == nil:
			return nil, fmt.Errorf("pairs/%d: share is %v, and plant has none such", i, p.Share)
		case !slices.Contains(compare.Verdicts, p.Verdict) || p.DurationS <= 0:
			return nil, fmt.Errorf("pairs/%d: verdict is %q, duration_s is %v", i, p.Verdict, p.DurationS)
		case slices.ContainsFunc(f.Pairs[:i], func(q Pair) bool { return q.Seed == p.Seed && q.StartedAt == p.StartedAt }):
			return nil, fmt.Errorf("pairs/%d: there twice", i)
		}
	}
	return f, nil
}

func (f *File) planted(share float64) *Planted {
	if i := slices.IndexFunc(f.Plant.Shares, func(p Planted) bool { return p.Share == share }); i >= 0 {
		return &f.Plant.Shares[i]
	}
	return nil
}

// wrong reports whether a pair's verdict is false, by the least that its plant may be.
func (f *File) wrong(p Pair) bool {
	switch p.Verdict {
	case compare.Dearer:
		return p.Share == 0
	case compare.Cheaper:
		return true
	case compare.Same:
		return f.planted(p.Share).Known.Low > f.Margin
	}
	return false
}

// A Table is what pages show of one kind of machine, asked in one way.
type Table struct {
	Machine string `json:"machine"`
	Hosted  bool   `json:"hosted"`
	Asked   string `json:"asked"` // "within 3 %, in 60 s at most"
	Cost    string `json:"cost"`  // CPU time a request with nothing planted
	Pairs   int    `json:"pairs"`
	Wrong   int    `json:"wrong"`
	Rows    []*Row `json:"rows"` // by rising share
}

// A Row is one planted share.
type Row struct {
	Share    string                  `json:"share"`
	Known    string                  `json:"known"`   // by its steps
	Counted  string                  `json:"counted"` // beside the server with nothing planted
	Pairs    int                     `json:"pairs"`
	Verdicts map[compare.Verdict]int `json:"verdicts"`
	Wrong    int                     `json:"wrong"`
	Median   string                  `json:"median,omitempty"` // time to a verdict; absent where none was reached
	Worst    string                  `json:"worst,omitempty"`
	share    float64
	took     []float64
}

// Tables sums up files, those of one kind of machine and one way of asking together.
func Tables(files []*File) []*Table {
	out, asked := []*Table{}, map[string]*Table{}
	for _, f := range files {
		key := fmt.Sprint(f.Host, f.Margin, f.BudgetS)
		t := asked[key]
		if t == nil {
			t = &Table{Machine: f.Machine, Hosted: f.Hosted, Cost: words.Time(f.Plant.CPUPerRequest), Rows: []*Row{},
				Asked: fmt.Sprintf("within %s, in %s at most", words.Percent(f.Margin), seconds(f.BudgetS))}
			out, asked[key] = append(out, t), t
		}
		for _, p := range f.Pairs {
			t.add(f, p)
		}
	}
	for _, t := range out {
		slices.SortFunc(t.Rows, func(a, b *Row) int { return cmp.Compare(a.share, b.share) })
		for _, r := range t.Rows {
			if len(r.took) > 0 {
				r.Median, r.Worst = seconds(stats.Median(r.took)), seconds(slices.Max(r.took))
			}
		}
	}
	return out
}

func (t *Table) add(f *File, p Pair) {
	i := slices.IndexFunc(t.Rows, func(r *Row) bool { return r.share == p.Share })
	if i < 0 {
		plant := f.planted(p.Share)
		i, t.Rows = len(t.Rows), append(t.Rows, &Row{Share: words.Percent(p.Share), Known: plant.Known.Percent(),
			Counted: plant.Counted.Percent(), Verdicts: map[compare.Verdict]int{}, share: p.Share})
	}
	r := t.Rows[i]
	t.Pairs, r.Pairs = t.Pairs+1, r.Pairs+1
	r.Verdicts[p.Verdict]++
	if p.Verdict == compare.Same || p.Verdict == compare.Dearer || p.Verdict == compare.Cheaper {
		r.took = append(r.took, p.DurationS)
	}
	if f.wrong(p) {
		t.Wrong, r.Wrong = t.Wrong+1, r.Wrong+1
	}
}

func seconds(s float64) string { return words.Duration(time.Duration(s * float64(time.Second))) }

// Percent is a share with its interval, to a hundredth of a percent.
func (s Span) Percent() string {
	if s == (Span{}) {
		return words.Percent(0)
	}
	text := fmt.Sprintf("%.2f\u00a0%% (%.2f to %.2f)", 100*s.Median, 100*s.Low, 100*s.High)
	return strings.ReplaceAll(text, "-", "−")
}
