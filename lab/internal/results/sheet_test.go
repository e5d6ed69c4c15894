package results

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

const repository = "../../.."

func of(t *testing.T, f *File) string {
	t.Helper()
	data, err := f.Sheet()
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestTheFormat(t *testing.T) {
	f := &File{
		Conditions: []Condition{
			{ID: "c1", Levels: setting.Levels{setting.Workers: setting.Int(2), setting.Route: setting.String("/a,b")}},
			{ID: "c2", Levels: setting.Levels{setting.Prefork: setting.Bool(false)}},
			{ID: "c3", Levels: setting.Levels{setting.Workers: setting.Int(2)}, ControlOf: "c1"},
		},
		Trials: []Trial{
			{Seq: 1, Block: 1, Condition: "c2", Valid: true, Bound: "unknown", BoundWhy: `the "client", unseen`,
				Metrics: map[string]float64{"b_s": 1.62e-6, "a": 0}},
			{Seq: 2, Block: 1, Condition: "c1", Bound: "wire",
				Reasons: []Reason{{Gate: "speed", Detail: "slow"}, {Gate: "errors", Detail: "2,\nor 3"}},
				Metrics: map[string]float64{"a": -1e21}, Below: map[string]float64{"b_s": 1e-9}},
			{Seq: 3, Block: 2, Condition: "c3", Valid: true, Bound: "wire",
				Metrics: map[string]float64{"b_s": 1322291}},
		},
	}
	want := `seq,block,condition,control_of,level_prefork,level_route,level_workers,valid,reasons,bound,bound_why,a,b_s,below_b_s
1,1,c2,,false,,,true,,unknown,"the ""client"", unseen",0,0.00000162,
2,1,c1,,,"/a,b",2,false,"speed: slow; errors: 2,
or 3",wire,,-1e+21,,1e-9
3,2,c3,c1,,,2,true,,wire,,,1322291,
`
	if got := of(t, f); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}

	// A trial has several profiles with many shares each: none is a column.
	f.Conditions[0].Profiles = []RawProfile{{Kind: "cpu", File: "x/r/c1-cpu.pb.gz", Trials: 1}}
	f.Trials[0].Profiles = []profile.Profile{{Kind: "cpu", Unit: "s", Total: 1, Work: map[string]float64{"write": 1},
		Packages: map[string]float64{"net": 1}}}
	if got := of(t, f); got != want {
		t.Errorf("with profiles:\n%s\nwant\n%s", got, want)
	}
}

func TestWhatIsNoFigureIsRefused(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		f := &File{Trials: []Trial{{Metrics: map[string]float64{"a": v}}}}
		if data, err := f.Sheet(); err == nil {
			t.Errorf("%v became %q", v, data)
		}
	}
}

// faithful compares every cell of a run's CSV with its trial.
func faithful(f *File) error {
	data, err := f.Sheet()
	if err != nil {
		return err
	}
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll() // refuses rows of different lengths
	if err != nil {
		return err
	}
	if len(rows) != len(f.Trials)+1 {
		return fmt.Errorf("%d rows for %d trials", len(rows)-1, len(f.Trials))
	}
	head := rows[0]
	if again := slices.Compact(slices.Sorted(slices.Values(head))); len(again) != len(head) {
		return fmt.Errorf("a name stands twice in %q", head)
	}
	for i, t := range f.Trials {
		c := f.Conditions[slices.IndexFunc(f.Conditions, func(c Condition) bool { return c.ID == t.Condition })]
		var why []string
		for _, r := range t.Reasons {
			why = append(why, r.Gate+": "+r.Detail)
		}
		words := map[string]string{
			"seq": strconv.Itoa(t.Seq), "block": strconv.Itoa(t.Block), "condition": t.Condition, "control_of": c.ControlOf,
			"valid": fmt.Sprint(t.Valid), "reasons": strings.Join(why, "; "), "bound": string(t.Bound), "bound_why": t.BoundWhy,
		}
		for name, l := range c.Levels {
			words["level_"+name] = l.String()
		}
		figures := maps.Clone(t.Metrics)
		if figures == nil {
			figures = map[string]float64{}
		}
		for name, v := range t.Below {
			figures["below_"+name] = v
		}
		for k, name := range head {
			cell := rows[i+1][k]
			if v, ok := figures[name]; ok {
				if got, err := strconv.ParseFloat(cell, 64); err != nil || got != v {
					return fmt.Errorf("trial %d: %s is %q, not %v", t.Seq, name, cell, v)
				}
			} else if text := strings.TrimPrefix(cell, "'"); text != words[name] { // empty if the trial has no such text
				return fmt.Errorf("trial %d: %s is %q, not %q", t.Seq, name, cell, words[name])
			}
			if _, err := strconv.ParseFloat(cell, 64); err != nil && strings.IndexAny(cell, "=+-@\t\n") == 0 {
				return fmt.Errorf("trial %d: a spreadsheet takes %s for a formula: %q", t.Seq, name, cell)
			}
			delete(figures, name)
			delete(words, name)
		}
		if len(figures)+len(words) > 0 {
			return fmt.Errorf("trial %d: no column for %v %v", t.Seq, figures, words)
		}
	}
	return nil
}

func TestEveryCellIsWhatTheRunSays(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(repository, "data/results/*/*.json"))
	if err != nil || len(files) < 5 {
		t.Fatalf("%d runs, %v", len(files), err)
	}
	for _, path := range files {
		f, err := readOnce(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := faithful(f); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestEveryCellOfAnyRunIsWhatItSays(t *testing.T) {
	for seed := range uint64(500) {
		f := anyRun(rand.New(rand.NewPCG(seed, 1)))
		if err := faithful(f); err != nil {
			t.Fatalf("seed %d: %v\n%+v", seed, err, f)
		}
	}
}

// anyRun draws a run with texts that are difficult in CSV, and with figures of
// any size.
func anyRun(r *rand.Rand) *File {
	text := func() string {
		s := ""
		for range r.IntN(6) {
			s += []string{"a", ",", `"`, "\n", " ", ";", ":", "ß", `\.`, "#", "=1", "\t"}[r.IntN(12)]
		}
		return s
	}
	figure := func() float64 {
		for {
			v := math.Float64frombits(r.Uint64())
			if r.IntN(2) == 0 {
				v = float64(r.IntN(1e9)) / math.Pow10(r.IntN(12))
			}
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				return v
			}
		}
	}
	f := &File{}
	for i := range 1 + r.IntN(4) {
		c := Condition{ID: fmt.Sprintf("c%d", i), ControlOf: text(), Levels: setting.Levels{}}
		for _, name := range []string{setting.Route, setting.Workers, setting.Prefork} {
			if r.IntN(3) > 0 {
				c.Levels[name] = []setting.Level{setting.Int(r.Int64()), setting.String(text()), setting.Bool(true)}[r.IntN(3)]
			}
		}
		f.Conditions = append(f.Conditions, c)
	}
	for i := range r.IntN(8) {
		t := Trial{
			Seq: i + 1, Block: r.IntN(100), Condition: f.Conditions[r.IntN(len(f.Conditions))].ID, Valid: r.IntN(2) > 0,
			Bound: "wire", BoundWhy: text(),
			Metrics: map[string]float64{}, Below: map[string]float64{},
		}
		for range r.IntN(3) {
			t.Reasons = append(t.Reasons, Reason{Gate: text(), Detail: text()})
		}
		for _, name := range []string{"workers", "latency_p50_s", "throughput_rps", "route"} {
			switch r.IntN(4) {
			case 0:
				t.Metrics[name] = figure()
			case 1:
				t.Metrics[name] = figure()
			case 2:
				t.Below[name] = figure()
			}
		}
		f.Trials = append(f.Trials, t)
	}
	return f
}
