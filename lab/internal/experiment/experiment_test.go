package experiment

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const committed = "../../experiments"

// whole is a made-up experiment with one claim of each kind. Tables below
// depend on its line numbers: a replacement keeps the lines above it.
const whole = `entry = "7"
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
[[claims]]
id = "is-flat"
kind = "flat"
text = "It is flat."
why = "Made up."
metric = "throughput_rps"
over = "workers"
margin = 0.1
[[claims]]
id = "more"
kind = "ratio"
text = "It is more."
why = "Made up."
metric = "throughput_rps"
over = "workers"
at_least = 1.5
[[claims]]
id = "less"
kind = "ratio"
text = "It is less."
why = "Made up."
metric = "server_cpu_per_request_s"
over = "pipelining"
at_most = 0.5
[[claims]]
id = "rises"
kind = "monotonic"
text = "It rises."
why = "Made up."
metric = "throughput_rps"
over = "workers"
margin = 0
[[claims]]
id = "wall"
kind = "bound"
text = "The wire is the wall."
why = "Made up."
bound = "wire"
needs = { line_rate = true, cores = 4, bound = "wire" }
[[claims]]
id = "exact"
kind = "value"
text = "As many as were asked for."
why = "Made up."
metric = "processes"
equals = "workers"
plus = 1
`

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
	sum := sha256.Sum256([]byte(whole))
	if x.Name != "made-up" || x.SHA256 != hex.EncodeToString(sum[:]) || x.Entry != "7" || x.Core {
		t.Errorf("%q %q %q core %v", x.Name, x.SHA256, x.Entry, x.Core)
	}
	if x.Topology != (Topology{"netns", 1e6, 1000, 0.02}) {
		t.Errorf("topology %+v", x.Topology)
	}
	if want := (Block{0.1, 6, 0.2}); x.Block != want || x.BudgetS != 60 {
		t.Errorf("block %+v, want %+v; budget %v", x.Block, want, x.BudgetS)
	}
	if got := x.Fixed().Key(); got != "route=/read prefork=true generator=http_load connections=100" {
		t.Errorf("fixed settings %q", got)
	}
	kinds := []Kind{}
	for _, c := range x.Claims {
		kinds = append(kinds, c.Kind)
	}
	if want := []Kind{Flat, Ratio, Ratio, Monotonic, Bound, Value}; !slices.Equal(kinds, want) {
		t.Errorf("claims %v, want %v", kinds, want)
	}
	if c := x.Claims[2]; c.AtLeast != nil || c.AtMost == nil || *c.AtMost != 0.5 {
		t.Errorf("claim %q: %+v", c.ID, c)
	}
	if c := x.Claims[3]; c.Margin == nil || *c.Margin != 0 {
		t.Errorf("a margin of 0 that stands there is not the same as none: %+v", c)
	}
	if c := x.Claims[4]; c.Needs != (Needs{"wire", true, 4}) {
		t.Errorf("needs %+v", c.Needs)
	}
	if c := x.Claims[5]; c.Equals != "workers" || c.More() != 1 {
		t.Errorf("claim %q: %+v", c.ID, c)
	}
}

func TestConditionsAreAllCombinationsFirstFactorSlowest(t *testing.T) {
	var got []string
	for _, c := range parse(t, whole).Conditions() {
		got = append(got, c.Key())
	}
	want := []string{
		"workers=1 pipelining=1", "workers=1 pipelining=10",
		"workers=2 pipelining=1", "workers=2 pipelining=10",
		"workers=4 pipelining=1", "workers=4 pipelining=10",
	}
	if !slices.Equal(got, want) {
		t.Errorf("conditions\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestFixedSettingsAreACopy(t *testing.T) {
	x := parse(t, whole)
	delete(x.Fixed(), "route")
	if _, ok := x.Fixed()["route"]; !ok {
		t.Error("a caller changed the experiment")
	}
}

// batches turns whole into a design with an event producer as the server.
var batches = strings.NewReplacer(
	"route = \"/read\"\n", "server = \"producer\"\n", "http_load", "sink", "rounds = 6", "rounds = 1",
	"connections = 100\n", "sink_latency_ms = 5\n", "prefork = true\n", "event_rate = 2000\n",
	"name = \"workers\"\nlevels = [1, 2, 4]", "name = \"variant\"\nlevels = [\"async\", \"pool-10\"]",
	"name = \"pipelining\"\nlevels = [1, 10]", "name = \"event_bytes\"\nlevels = [64, 256]",
	`over = "workers"`, `over = "variant"`, `over = "pipelining"`, `over = "event_bytes"`, `equals = "workers"`,
	`equals = "event_bytes"`,
	"{ workers = 4 }", "{ variant = \"async\" }",
).Replace(whole)

func TestBatchesAreWhatAProducerSends(t *testing.T) {
	if x := parse(t, batches); !x.Batches() || len(x.Conditions()) != 4 {
		t.Errorf("batches: %v, %d conditions", x.Batches(), len(x.Conditions()))
	}
	for _, c := range []struct{ name, old, new, says string }{
		{"a sink without a producer", "server = \"producer\"\n", "", "settings.route is missing"},
		{"a producer without a sink", "generator = \"sink\"\n", "",
			`generator = "sink" and a server with events = true belong together; server is "producer"`},
		{"no rate", "event_rate = 2000\n", "", "settings.event_rate is missing"},
		{"a request's setting", "sink_latency_ms = 5", "connections = 5", "a producer of events has no connections"},
		{"a pool's setting", "sink_latency_ms = 5", "stagger = true",
			`stagger is about a pool's workers, and variant = "async" has none`},
		{"a limit by a ticker", "event_rate = 2000", "event_rate = 0\npacing = \"ticker\"", "takes pacing"},
		{"a size that no event has", "levels = [64, 256]", "levels = [64, 100]",
			"event_bytes = 100; use 64, 256, 1024 or 4096"},
		{"more errors than batches", "sink_latency_ms = 5", "sink_errors_permille = 1001",
			"sink_errors_permille = 1001 is more than all"},
	} {
		if !strings.Contains(batches, c.old) {
			t.Fatalf("%s: %q does not stand in the design", c.name, c.old)
		}
		if _, err := Parse("made-up", []byte(strings.Replace(batches, c.old, c.new, 1))); err == nil ||
			!strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
	if _, err := Parse("made-up", []byte(strings.Replace(whole, "prefork = true",
		"server = \"fiber\"\nvariant = \"async\"", 1))); err == nil ||
		!strings.Contains(err.Error(), "variant is a setting of a producer of events") {
		t.Errorf("Fiber was given a batch processor: %v", err)
	}
}

// Only a run finds out whether a machine has the settings and the other
// machines, so the design may ask for them.
func TestADesignToBeRunMayTurnKnobsOfAFleet(t *testing.T) {
	x := parse(t, strings.NewReplacer(
		`kind = "netns"`, `kind = "fleet"`, "line_rate_bps = 1_000_000\nburst_bytes = 1000\nqueue_s = 0.02\n", "",
		"prefork = true\n", "irqbalance = false\n",
		"name = \"pipelining\"\nlevels = [1, 10]", "name = \"irq\"\nlevels = [\"default\", \"pinned\"]",
		`over = "pipelining"`, `over = "irq"`,
	).Replace(whole))
	if x.Topology.Kind != "fleet" || x.Conditions()[1].Key() != "workers=1 irq=pinned" {
		t.Errorf("%s, %q", x.Topology.Kind, x.Conditions()[1].Key())
	}
}

func TestRefusesAnExperimentThatDecidesNothing(t *testing.T) {
	claims := whole[:strings.Index(whole, "[[claims]]")]
	if _, err := Parse("made-up", []byte(claims)); err == nil || !strings.Contains(err.Error(), "claims is missing") {
		t.Errorf("without claims: %v", err)
	}
	start, end := strings.Index(whole, "[[factors]]"), strings.Index(whole, "[block]")
	if _, err := Parse("made-up", []byte(whole[:start]+whole[end:])); err == nil ||
		!strings.Contains(err.Error(), "factors is missing") {
		t.Errorf("without factors: %v", err)
	}
	if _, err := Parse("made-up", nil); err == nil {
		t.Error("an empty file is accepted")
	}
}

func TestRefusesAFileNameThatNoPageCouldLinkTo(t *testing.T) {
	for _, id := range []string{"", "Made-Up", "made up", "-made", "made--up", "made.up", "../up", "made/up"} {
		if _, err := Parse(id, []byte(whole)); err == nil || !strings.Contains(err.Error(), "the file's name") {
			t.Errorf("%q: %v", id, err)
		}
	}
}

func TestLoadNamesFileAndLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "broken.toml")
	if err := os.WriteFile(path, []byte(strings.Replace(whole, "margin = 0.1", "margin = ", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil || !strings.HasPrefix(err.Error(), path+": line 33") {
		t.Errorf("%v, want %s: line 33", err, path)
	}
	if _, err := Load(path + "x"); err == nil {
		t.Error("a file that is not there was read")
	}
	if _, err := LoadDir(t.TempDir()); err == nil || !strings.Contains(err.Error(), "no experiment") {
		t.Errorf("a directory without experiments: %v", err)
	}
	if _, err := LoadDir(filepath.Dir(path)); err == nil || !strings.Contains(err.Error(), "broken.toml") {
		t.Errorf("a directory with a broken one: %v", err)
	}
}

func TestEveryCommittedExperimentLoads(t *testing.T) {
	xs, err := LoadDir(committed)
	if err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(committed, "*"))
	if len(xs) != len(files) || len(xs) < 5 {
		t.Errorf("%d experiments of %d files", len(xs), len(files))
	}
	core := 0
	for i, x := range xs {
		if i > 0 && xs[i-1].Name >= x.Name {
			t.Errorf("%s stands after %s", x.Name, xs[i-1].Name)
		}
		if x.Core {
			core++
		}
		for _, c := range x.Claims {
			if c.Why == "" {
				t.Errorf("%s, %s: nothing says where the bar comes from", x.Name, c.ID)
			}
		}
	}
	if core == 0 {
		t.Error("no experiment is core; reproduce would do nothing")
	}
}

// sound checks what all users of an experiment rely on.
func sound(x *Experiment) error {
	if n := len(x.Conditions()); n < 2 {
		return fmt.Errorf("%d conditions", n)
	}
	finite := map[string]float64{"line rate": x.Topology.LineRateBps, "queue": x.Topology.QueueS}
	finite["slot"], finite["warm-up"], finite["budget"] = x.Block.SlotS, x.Block.WarmupS, x.BudgetS
	for _, c := range x.Claims {
		for field, v := range map[string]*float64{"margin": c.Margin, "at_least": c.AtLeast, "at_most": c.AtMost} {
			if v != nil {
				finite[c.ID+" "+field] = *v
			}
		}
	}
	for what, v := range finite {
		if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
			return fmt.Errorf("%s is %v", what, v)
		}
	}
	return nil
}

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
	for _, s := range []string{"margin = nan", "margin = inf", "margin = 0x10", "margin = 1e400", "margin = \"0.1\"",
		"margin = 1979-05-27"} {
		f.Add([]byte(strings.Replace(whole, "margin = 0.1", s, 1)))
	}
	f.Add([]byte(strings.Replace(whole, "warmup_s = 0.2", "warmup_s = nan", 1)))
	f.Fuzz(func(t *testing.T, data []byte) {
		// A product of long lists of levels is slow and shows nothing more.
		if len(data) > 4<<10 {
			t.Skip()
		}
		x, err := Parse("made-up", data)
		if err != nil {
			return
		}
		if err := sound(x); err != nil {
			t.Errorf("accepted, but %v:\n%s", err, data)
		}
	})
}

func TestAClaimMayBeKeptToLevels(t *testing.T) {
	x, err := Parse("x", []byte(strings.Replace(whole, "margin = 0.1\n", "margin = 0.1\nat = { pipelining = 10 }\n", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if got := x.Claims[0].Where().Key(); got != "pipelining=10" {
		t.Errorf("kept to %q", got)
	}
	if got := x.Claims[1].Where(); got != nil {
		t.Errorf("a claim about everything is kept to %v", got)
	}
}
