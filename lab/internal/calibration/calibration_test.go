package calibration

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/compare"
)

// file has a pair for each verdict that is given, of a share.
func file(pairs map[float64][]compare.Verdict) *File {
	f := &File{SchemaVersion: Version, Host: "amd-2c-1", Machine: "AMD, 2 cores", Margin: 0.03, BudgetS: 60, Each: 3,
		Programs: map[string]string{"linerate": "a"}, Plant: Plant{CPUPerRequest: 20e-6, Requests: 1000}}
	for _, share := range []float64{0, 0.01, 0.031} {
		p := Planted{Share: share, Steps: int(share * 10_000), Known: Span{share, share - 0.0002, share + 0.0002}}
		if share == 0 {
			p.Known = Span{}
		}
		f.Plant.Shares = append(f.Plant.Shares, p)
	}
	for _, p := range f.Plant.Shares {
		for i, v := range pairs[p.Share] {
			f.Pairs = append(f.Pairs, Pair{Share: p.Share, StartedAt: "2026-11-24T04:00:00Z", Seed: uint64(len(f.Pairs)),
				DurationS: float64(10 * (i + 1)), Verdict: v})
		}
	}
	return f
}

// By hand: wrong are "more" of nothing planted, "less" of anything, and "the same" of 3.1 % within 3 %.
func TestWhatIsFalseIsCounted(t *testing.T) {
	const more, same, less, open, none = compare.Dearer, compare.Same, compare.Cheaper, compare.Undecided, compare.Invalid
	f := file(map[float64][]compare.Verdict{0: {same, more, less, open}, 0.01: {same, more, less}, 0.031: {same, more, none}})
	all := Tables([]*File{f, file(map[float64][]compare.Verdict{0: {same}})})
	if len(all) != 1 || all[0].Pairs != 11 || all[0].Wrong != 4 || all[0].Asked != "within 3\u00a0%, in 1 min 00 s at most" {
		t.Fatalf("%+v", all)
	}
	for i, want := range []string{
		`{"share":"0\u00a0%","known":"0\u00a0%","pairs":5,"wrong":2,"median":"15 s","worst":"30 s"}`,
		`{"share":"1\u00a0%","known":"1.00\u00a0% (0.98 to 1.02)","pairs":3,"wrong":1,"median":"20 s","worst":"30 s"}`,
		`{"share":"3.1\u00a0%","known":"3.10\u00a0% (3.08 to 3.12)","pairs":3,"wrong":1,"median":"15 s","worst":"20 s"}`,
	} {
		var w Row
		if err := json.Unmarshal([]byte(want), &w); err != nil {
			t.Fatal(err)
		}
		r := all[0].Rows[i]
		if r.Share != w.Share || r.Known != w.Known || r.Pairs != w.Pairs || r.Wrong != w.Wrong || r.Median != w.Median ||
			r.Worst != w.Worst {
			t.Errorf("%+v, want %+v", r, w)
		}
	}
	if v := all[0].Rows[0].Verdicts; v[same] != 2 || v[more] != 1 || v[less] != 1 || v[open] != 1 {
		t.Errorf("%v", v)
	}
	other := file(map[float64][]compare.Verdict{0: {open}})
	other.Margin = 0.01
	if all := Tables([]*File{f, other}); len(all) != 2 || all[1].Rows[0].Median != "" {
		t.Errorf("another margin is another table: %+v", all)
	}
	if all := Tables(nil); all == nil || len(all) != 0 {
		t.Errorf("of nothing: %v", all)
	}
}

func TestAFileThatCannotBeIsRefused(t *testing.T) {
	f := file(map[float64][]compare.Verdict{0: {compare.Same, compare.Same}})
	data, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Read("data/calibration/amd-2c-1-3.json", data); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][3]string{
		{`"schema_version":1`, `"schema_version":2`, "schema_version is 2"},
		{`"host":"amd-2c-1"`, `"host":"intel"`, "host is"},
		{`"margin":0.03`, `"margin":3`, "margin"},
		{`"share":0,"started_at"`, `"share":0.5,"started_at"`, "pairs/0: share is 0.5"},
		{`"verdict":"same"`, `"verdict":"better"`, "pairs/0: verdict is"},
		{`"seed":1,`, `"seed":0,`, "pairs/1: there twice"},
		{`"margin"`, `"margins"`, "margins"},
	} {
		wrong := strings.Replace(string(data), c[0], c[1], 1)
		if _, err := Read("amd-2c-1-3.json", []byte(wrong)); wrong == string(data) || err == nil ||
			!strings.Contains(err.Error(), c[2]) {
			t.Errorf("%s: %v, want %q", c[1], err, c[2])
		}
	}
}

// What was cut short goes on only if the same is asked of the same programs.
func TestACallThatAsksSomethingElseBeginsAnew(t *testing.T) {
	f := file(map[float64][]compare.Verdict{0: {compare.Same}})
	percent := []float64{0, 1, 3.1}
	if g := file(nil); !f.Asks(g, percent) || f.Left(0) != 2 || f.Left(0.01) != 3 {
		t.Errorf("it does not go on: %d, %d", f.Left(0), f.Left(0.01))
	}
	for name, change := range map[string]func(*File){
		"margin": func(g *File) { g.Margin = 0.01 }, "budget": func(g *File) { g.BudgetS = 30 },
		"pairs": func(g *File) { g.Each = 4 }, "program": func(g *File) { g.Programs = map[string]string{"linerate": "b"} },
	} {
		g := file(nil)
		if change(g); f.Asks(g, percent) {
			t.Errorf("another %s goes on", name)
		}
	}
	if f.Asks(file(nil), []float64{0, 1}) {
		t.Error("other shares go on")
	}
}
