package site

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A calibration sums up how often comparisons of one machine, asked in one way, were right where the truth is
// known. A server meets itself, and a copy that burns a known share more CPU time a request. The script
// tools/calibrate.py measures the pairs.
type calibration struct {
	Machine string            `json:"machine"`
	Asked   string            `json:"asked"` // "within 3 %, in 60 s at most, beside 0.2 of a core"
	Cost    string            `json:"cost"`  // CPU time a request with nothing planted
	Pairs   int               `json:"pairs"`
	Wrong   int               `json:"wrong"`
	Rows    []*calibrationRow `json:"rows"` // by rising share
}

// A calibrationRow is one planted share of CPU time.
type calibrationRow struct {
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

// calibrations reads data/calibration/pairs.csv, one row a pair, and sums up those of one machine and
// one way of asking. It names the line of what it cannot read.
func calibrations(file []byte) ([]*calibration, error) {
	rows, err := csv.NewReader(bytes.NewReader(file)).ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, cmp.Or(err, fmt.Errorf("it has no head"))
	}
	out, asked := []*calibration{}, map[string]*calibration{}
	for n, row := range rows[1:] {
		p := calibrationPair{named: map[string]string{}}
		for i, name := range rows[0] {
			p.named[name] = row[i]
		}
		margin, budget, verdict := p.number("margin"), p.number("budget_s"), compare.Verdict(p.named["verdict"])
		beside := p.named["beside"] // empty: nothing ran beside it
		key := fmt.Sprint(p.named["machine"], margin, budget, beside)
		t := asked[key]
		if t == nil {
			t = &calibration{Machine: p.named["machine"], Cost: words.Time(p.number("cost_s")), Rows: []*calibrationRow{},
				Asked: fmt.Sprintf("within %s, in %s at most", words.Percent(margin), seconds(budget))}
			if beside != "" {
				t.Asked += fmt.Sprintf(", beside %s of a core", words.Number(p.number("beside")))
			}
			out, asked[key] = append(out, t), t
		}
		t.add(&p, verdict, margin)
		if p.err == nil && !slices.Contains(compare.Verdicts, verdict) {
			p.err = fmt.Errorf("verdict is %q", verdict)
		}
		if p.err != nil {
			return nil, fmt.Errorf("line %d: %w", n+2, p.err)
		}
	}
	for _, t := range out {
		slices.SortFunc(t.Rows, func(a, b *calibrationRow) int { return cmp.Compare(a.share, b.share) })
		for _, r := range t.Rows {
			if len(r.took) > 0 {
				r.Median, r.Worst = seconds(stats.Median(r.took)), seconds(slices.Max(r.took))
			}
		}
	}
	return out, nil
}

// A calibrationPair is one row, with the first error in reading its numbers.
type calibrationPair struct {
	named map[string]string
	err   error
}

func (p *calibrationPair) number(name string) float64 {
	v, err := strconv.ParseFloat(p.named[name], 64)
	if err != nil {
		p.err = cmp.Or(p.err, fmt.Errorf("%s is %q and no number", name, p.named[name]))
	}
	return v
}

// span is a share with its interval, to a hundredth of a percent.
func (p *calibrationPair) span(name string) string {
	median, low, high := p.number(name), p.number(name+"_low"), p.number(name+"_high")
	if median == 0 && low == 0 && high == 0 {
		return words.Percent(0)
	}
	return strings.ReplaceAll(fmt.Sprintf("%.2f\u00a0%% (%.2f to %.2f)", 100*median, 100*low, 100*high), "-", "−")
}

func (t *calibration) add(p *calibrationPair, verdict compare.Verdict, margin float64) {
	share := p.number("share")
	i := slices.IndexFunc(t.Rows, func(r *calibrationRow) bool { return r.share == share })
	if i < 0 {
		i, t.Rows = len(t.Rows), append(t.Rows, &calibrationRow{Share: words.Percent(share), Known: p.span("known"),
			Counted: p.span("counted"), Verdicts: map[compare.Verdict]int{}, share: share})
	}
	r := t.Rows[i]
	t.Pairs, r.Pairs = t.Pairs+1, r.Pairs+1
	r.Verdicts[verdict]++
	wrong := false // by the least that the plant may be
	switch verdict {
	case compare.Dearer:
		wrong = share == 0
	case compare.Cheaper:
		wrong = true
	case compare.Same:
		wrong = p.number("known_low") > margin
	default:
		return
	}
	r.took = append(r.took, p.number("duration_s"))
	if wrong {
		t.Wrong, r.Wrong = t.Wrong+1, r.Wrong+1
	}
}

func seconds(s float64) string { return words.Duration(time.Duration(s * float64(time.Second))) }
