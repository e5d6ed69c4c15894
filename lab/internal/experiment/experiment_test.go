package experiment

import (
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/setting"
)

const committed = "../../experiments"

// whole is a made-up experiment with one claim of each kind. A row of a table below replaces some of its text; those
// that name a line keep the lines above it.
var whole = `entry = "7"
title = "A made-up comparison"
question = "Does it matter?"
metrics = ["throughput_rps"]
budget_s = 60
[topology]
kind = "netns"
line_rate_bps = 1_000_000
burst_bytes = 1000
queue_s = 0.02
[settings]
route = "/read"
prefork = true
generator = "http_load"
connections = 100
[[factors]]
name = "workers"
levels = [1, 2, 4]
[[factors]]
name = "pipelining"
levels = [1, 10]
[block]
slot_s = 0.1
rounds = 6
warmup_s = 0.2
` + claim("is-flat", "flat", "It is flat.", `metric = "throughput_rps"`, `over = "workers"`, "margin = 0.1") +
	claim("more", "ratio", "It is more.", `metric = "throughput_rps"`, `over = "workers"`, "at_least = 1.5") +
	claim("less", "ratio", "It is less.", `metric = "server_cpu_per_request_s"`, `over = "pipelining"`, "at_most = 0.5") +
	claim("rises", "monotonic", "It rises.", `owner = "series"`, `metric = "throughput_rps"`, `over = "workers"`,
		"margin = 0") +
	claim("wall", "bound", "The wire is the wall.", `bound = "wire"`,
		`needs = { line_rate = true, cores = 4, bound = "wire" }`) +
	claim("exact", "value", "As many as were asked for.", `metric = "processes"`, `equals = "workers"`, "plus = 1") + `
[[withdrawn]]
id = "old"
text = "It was flat."
why = "It was wide."
[[withdrawn]]
ids = ["older", "oldest"]
why = "Others ask the same."
`

func claim(id, kind, text string, lines ...string) string {
	return fmt.Sprintf("[[claims]]\nid = %q\nkind = %q\ntext = %q\nwhy = \"Made up.\"\n%s\n", id, kind, text,
		strings.Join(lines, "\n"))
}

// with replaces text of a design, which has to be there.
func with(t *testing.T, text string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("the design has no %q", pairs[i])
		}
		text = strings.Replace(text, pairs[i], pairs[i+1], 1)
	}
	return text
}

func parse(t *testing.T, text string) *Experiment {
	t.Helper()
	x, err := Parse("made-up", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestReadsEveryField(t *testing.T) {
	x := parse(t, whole)
	if x.Name != "made-up" || x.SHA256 != fmt.Sprintf("%x", sha256.Sum256([]byte(whole))) || x.Entry != "7" || x.Core {
		t.Errorf("%q %q %q core %v", x.Name, x.SHA256, x.Entry, x.Core)
	}
	if x.Topology != (Topology{"netns", 1e6, 1000, 0.02}) || x.Block != (Block{0.1, 6, 0.2}) || x.BudgetS != 60 {
		t.Errorf("%+v %+v %v", x.Topology, x.Block, x.BudgetS)
	}
	delete(x.Fixed(), "route") // of a copy
	if got := x.Fixed().Key(); got != "route=/read prefork=true generator=http_load connections=100" {
		t.Errorf("fixed settings %q", got)
	}
	forms, kinds, owners := []Form{}, []Kind{}, []Owner{}
	for _, c := range x.Claims {
		forms, kinds, owners = append(forms, c.Form()), append(kinds, c.Kind), append(owners, c.Owner)
	}
	if !slices.Equal(kinds, []Kind{Flat, Ratio, Ratio, Monotonic, Bound, Value}) ||
		!slices.Equal(forms, []Form{RatioForm, RatioForm, RatioForm, RatioForm, BottleneckForm, ValueForm}) ||
		!slices.Equal(owners, []Owner{Journal, Journal, Journal, Series, Journal, Journal}) {
		t.Errorf("%v %v %v", kinds, forms, owners)
	}
	if low, high := x.Claims[2].Edges(); !math.IsInf(low, -1) || high != 0.5 {
		t.Errorf("edges %v and %v", low, high)
	}
	if c := x.Claims[3]; c.Margin == nil || *c.Margin != 0 {
		t.Errorf("a margin of 0 is not the same as none: %+v", c)
	}
	if c := x.Claims[4]; c.Needs != (Needs{"wire", true, 4}) || x.Cores(c) != 4 {
		t.Errorf("needs %+v, %d cores", c.Needs, x.Cores(c))
	}
	if c := x.Claims[5]; c.Equals != "workers" || c.Plus != 1 {
		t.Errorf("claim %q: %+v", c.ID, c)
	}
	if w := x.Withdrawn; len(w) != 3 || w[0].Text == "" || w[2].ID != "oldest" || w[2].Why != "Others ask the same." {
		t.Errorf("withdrawn %+v", w)
	}
}

func TestConditionsAreAllCombinationsFirstFactorSlowest(t *testing.T) {
	keys := func(x *Experiment) string {
		var all []string
		for _, c := range x.Conditions() {
			all = append(all, c.Key())
		}
		return strings.Join(all, "; ")
	}
	x := parse(t, whole)
	if got := keys(x); got != "workers=1 pipelining=1; workers=1 pipelining=10; workers=2 pipelining=1; "+
		"workers=2 pipelining=10; workers=4 pipelining=1; workers=4 pipelining=10" {
		t.Error(got)
	}
}

func TestAClaimIsKeptToLevels(t *testing.T) {
	x := parse(t, with(t, whole, "margin = 0.1", "margin = 0.1\nlevels = [4, 1]\nat = { pipelining = 10 }"))
	c := x.Claims[0]
	if fmt.Sprint(c.Compared) != "[4 1]" || c.Where.Key() != "pipelining=10" {
		t.Errorf("it compares %v where %v", c.Compared, c.Where)
	}
	for _, is := range []struct {
		workers, pipelining int64
		covered             bool
	}{{1, 10, true}, {2, 10, false}, {4, 10, true}, {4, 1, false}} {
		all := x.Fixed().With(setting.Levels{"workers": setting.Int(is.workers), "pipelining": setting.Int(is.pipelining)})
		if c.Covers(all) != is.covered || !x.Claims[1].Covers(all) {
			t.Errorf("%v is covered: %v", all, c.Covers(all))
		}
	}
}

func TestLoadNamesFileAndLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "broken.toml")
	if err := os.WriteFile(path, []byte(with(t, whole, "margin = 0.1", "margin = ")), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil || !strings.HasPrefix(err.Error(), path+": line 33") {
		t.Errorf("%v, want %s: line 33", err, path)
	}
	if _, err := LoadDir(filepath.Dir(path)); err == nil {
		t.Error("a directory with a broken file was read")
	}
}

// A claim speaks of what its design turns, and says from where its bar is.
func TestEveryCommittedExperimentLoads(t *testing.T) {
	xs, err := LoadDir(committed)
	if err != nil {
		t.Fatal(err)
	}
	core := 0
	for i, x := range xs {
		if i > 0 && xs[i-1].Name >= x.Name {
			t.Errorf("%s comes after %s", x.Name, xs[i-1].Name)
		}
		if x.Core {
			core++
		}
		for _, levels := range x.Whole() {
			if levels[setting.Generator].IsZero() { // as only designs of the first runs may
				t.Errorf("%s does not say which generator it is measured with", x.Name)
			}
		}
		for _, c := range x.Claims {
			if strings.Contains(c.Text, "all cores") && c.Needs.Cores < 4 {
				t.Errorf("%s/%s speaks of many cores and needs %d: %s", x.Name, c.ID, c.Needs.Cores, c.Text)
			}
		}
	}
	if core == 0 {
		t.Error("no experiment is core; lab run would do nothing")
	}
}

// A valid design has finite numbers and something to compare.
func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	paths, _ := filepath.Glob(filepath.Join(committed, "*.toml"))
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, s := range []string{"nan", "inf", "0x10", "1e400", `"0.1"`, "1979-05-27"} {
		f.Add([]byte(strings.Replace(whole, "margin = 0.1", "margin = "+s, 1)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 4<<10 { // a product of long lists of levels is slow and shows nothing more
			t.Skip()
		}
		x, err := Parse("made-up", data)
		if err != nil {
			return
		}
		finite := []float64{x.Topology.LineRateBps, x.Topology.QueueS, x.Block.SlotS, x.Block.WarmupS, x.BudgetS}
		for _, c := range x.Claims {
			for _, v := range []*float64{c.Margin, c.AtLeast, c.AtMost} {
				if v != nil {
					finite = append(finite, *v)
				}
			}
		}
		endless := func(v float64) bool { return !(v >= 0) || math.IsInf(v, 0) }
		if slices.ContainsFunc(finite, endless) || len(x.Conditions()) < 2 {
			t.Errorf("accepted:\n%s", data)
		}
	})
}
