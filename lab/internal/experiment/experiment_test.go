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

// whole is a made-up experiment with one claim of each kind. Its line numbers
// matter to the table below: a replacement keeps the lines above it.
const whole = `entry = "7"
title = "A made-up comparison"
question = "Does it matter?"
metrics = ["throughput_rps"]
[topology]
kind = "netns"
line_rate_bps = 1_000_000
burst_bytes = 1000
queue_s = 0.02
[settings]
route = "/read"
prefork = true
connections = 100
[[factors]]
name = "workers"
levels = [1, 2, 4]
[[factors]]
name = "pipelining"
levels = [1, 10]
[sizes.smoke]
blocks = 6
warmup_s = 0.5
duration_s = 1
repeats = 2
[sizes.full]
blocks = 12
warmup_s = 0
duration_s = 10.5
repeats = 0
[[claims]]
id = "is-flat"
kind = "flat"
text = "It is flat."
metric = "throughput_rps"
over = "workers"
margin = 0.1
[[claims]]
id = "more"
kind = "ratio"
text = "It is more."
metric = "throughput_rps"
over = "workers"
at_least = 1.5
[[claims]]
id = "less"
kind = "ratio"
text = "It is less."
metric = "server_cpu_per_request_s"
over = "pipelining"
at_most = 0.5
[[claims]]
id = "rises"
kind = "monotonic"
text = "It rises."
metric = "throughput_rps"
over = "workers"
margin = 0
[[claims]]
id = "wall"
kind = "bound"
text = "The wire is the wall."
bound = "wire"
needs = { line_rate = true, cores = 4, bound = "wire" }
[[claims]]
id = "exact"
kind = "count"
text = "As many as were asked for."
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
	if want := (Size{12, 0, 10.5, 0}); x.Sizes[Full] != want {
		t.Errorf("full size %+v, want %+v", x.Sizes[Full], want)
	}
	if got := x.Fixed().Key(); got != "route=/read prefork=true connections=100" {
		t.Errorf("fixed settings %q", got)
	}
	kinds := []Kind{}
	for _, c := range x.Claims {
		kinds = append(kinds, c.Kind)
	}
	if want := []Kind{Flat, Ratio, Ratio, Monotonic, Bound, Count}; !slices.Equal(kinds, want) {
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
	if c := x.Claims[5]; c.Equals != "workers" || c.Plus != 1 {
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

func TestRefusesWhatIsBroken(t *testing.T) {
	for _, c := range []struct {
		name, old, new string // old is replaced once; it must be there
		says           string
	}{
		// Syntax and shape: by line.
		{"unknown key", `title = "A made-up comparison"`, "titel = \"x\"", `line 2: unknown key "titel"`},
		{"unknown key in a claim", "margin = 0.1", "margn = 0.1", `line 36: unknown key "claims.margn"`},
		{"unknown key in a size", "repeats = 2", "repeat = 2", `line 24: unknown key "sizes.smoke.repeat"`},
		{"unknown need", "cores = 4", "core = 4", `line 63: unknown key`},
		{"unknown table", "[settings]", "[settings.x]\n[setting]", `unknown key "setting`},
		{"key given twice", "margin = 0.1", "margin = 0.1\nmargin = 0.2", `line 37, column 1: key margin is already defined`},
		{"table given twice", "[sizes.full]", "[sizes.smoke]", `line 25`},
		{"a bracket is missing", "levels = [1, 2, 4]", "levels = [1, 2, 4", `line 17`},
		{"a quote is missing", `entry = "7"`, `entry = "7`, `line 1`},
		{"no value", "blocks = 6", "blocks =", `line 21`},
		{"a text for a number", "blocks = 6", `blocks = "six"`, `line 21`},
		{"a number for a text", `entry = "7"`, `entry = 7`, `line 1`},
		{"a fraction of a block", "blocks = 6", "blocks = 6.5", `line 21`},
		{"one level, no list", "levels = [1, 2, 4]", "levels = 1", `line 16`},
		{"invalid UTF-8", "Does it", "Does \xff it", `line 3`},
		// The decoder itself ignores case; two spellings would stand side by
		// side and the last one decide.
		{"another spelling of a key", "margin = 0.1", "margin = 0.1\nMargin = 9", `Margin`},
		{"a key in capitals", `entry = "7"`, `ENTRY = "7"`, `ENTRY`},

		// Meaning: by field.
		{"no entry", `entry = "7"`, "", "entry is missing"},
		{"no title", `title = "A made-up comparison"`, "", "title is missing"},
		{"empty question", `question = "Does it matter?"`, `question = ""`, "question is missing"},
		{"no metrics", `metrics = ["throughput_rps"]`, "", "metrics is missing"},
		{"unknown metric", `metrics = ["throughput_rps"]`, `metrics = ["throughput_rps", "speed"]`, `metrics: unknown metric "speed"`},
		{"unknown topology", `kind = "netns"`, `kind = "moon"`, `topology.kind "moon"`},
		{"loopback with a line rate", `kind = "netns"`, `kind = "loopback"`, "topology: loopback has no line rate"},
		{"netns without a line rate", "line_rate_bps = 1_000_000", "", "topology: netns needs line_rate_bps"},
		{"negative line rate", "line_rate_bps = 1_000_000", "line_rate_bps = -1", "topology: netns needs line_rate_bps"},
		{"line rate that is no number", "line_rate_bps = 1_000_000", "line_rate_bps = nan", "topology"},
		{"endless line rate", "line_rate_bps = 1_000_000", "line_rate_bps = inf", "topology"},
		{"endless queue", "queue_s = 0.02", "queue_s = inf", "topology"},
		{"no burst", "burst_bytes = 1000", "", "topology"},
		{"unknown setting", "prefork = true", "preforks = true", `settings.preforks: unknown setting "preforks"`},
		{"setting of the wrong type", "prefork = true", "prefork = 1", `settings.prefork: setting "prefork"`},
		{"negative setting", "connections = 100", "connections = -1", `settings.connections`},
		{"a list as a setting", "connections = 100", "connections = [100]", `settings.connections: [100] is not a level`},
		{"a date as a setting", "connections = 100", "connections = 2026-01-01", `settings.connections`},
		{"a setting is missing", "connections = 100\n", "", "settings.connections is missing"},
		{"a factor that is set as well", "connections = 100", "connections = 100\nworkers = 1", `factors[0]: "workers" is set twice`},
		{"a factor given twice", `name = "pipelining"`, `name = "workers"`, `factors[1]: "workers" is set twice`},
		{"a generator that the lab does not have", "prefork = true", "prefork = true\ngenerator = \"vegeta\"", "the lab does not run vegeta"},
		{"a stack without prefork", "prefork = true", "prefork = true\nstack = \"net-http\"", "net-http has no prefork"},
		{"a stack that would fork by default", "prefork = true", "stack = \"fasthttp\"", "fasthttp has no prefork"},
		{"interrupts on a wire of two namespaces", "prefork = true", "prefork = true\nirq = \"pinned\"", "settings.irq: netns has nothing to turn it on"},
		{"cores that are no list", "kind = \"netns\"\nline_rate_bps = 1_000_000\nburst_bytes = 1000\nqueue_s = 0.02\n[settings]", "kind = \"fleet\"\n[settings]\nserver_cpus = \"all\"", `settings.server_cpus: setting "server_cpus" (cores the server may use) cannot be all`},
		{"cores from high to low", "kind = \"netns\"\nline_rate_bps = 1_000_000\nburst_bytes = 1000\nqueue_s = 0.02\n[settings]", "kind = \"fleet\"\n[settings]\nserver_cpus = \"5-0\"", `settings.server_cpus: "5-0" is not a list of CPUs`},
		{"a route on another server", `route = "/read"`, `route = "@127.0.0.1:19999/x"`, `settings.route: setting "route" (path requested) cannot be @127.0.0.1:19999/x`},
		{"a route of another host", `route = "/read"`, `route = "//127.0.0.1:19999/x"`, `settings.route: setting "route"`},
		{"a route with a query", `route = "/read"`, `route = "/read?n=1"`, `settings.route: setting "route"`},
		{"a route that is markup", `route = "/read"`, `route = "/<img src=x>"`, `settings.route: setting "route"`},
		{"several paths at once", `route = "/read"`, `route = "60 % /read + 40 % /list"`, "the lab requests one path at a time"},
		{"an unknown stack", "prefork = true", "stack = \"gin\"", `settings.stack: setting "stack"`},
		{"a stack of the null server", "prefork = true", "server = \"null\"\nstack = \"fiber\"", "the null server has no stack"},
		{"an overload of no rate", "prefork = true", "prefork = true\noverload = true", "overload needs a rate"},
		{"unknown factor", `name = "pipelining"`, `name = "depth"`, `factors[1]: unknown setting "depth"`},
		{"a factor without a name", `name = "pipelining"`, "", `factors[1]`},
		{"one level only", "levels = [1, 2, 4]", "levels = [1]", `factors[0]: "workers" needs at least two levels`},
		{"falling levels", "levels = [1, 2, 4]", "levels = [1, 4, 2]", `factors[0]: "workers": levels must rise`},
		{"equal levels", "levels = [1, 2, 4]", "levels = [1, 2, 2]", `factors[0]: "workers": levels must rise`},
		{"levels of the wrong type", "levels = [1, 2, 4]", `levels = ["1", "2"]`, `factors[0]: setting "workers"`},
		{"levels of two types", "levels = [1, 2, 4]", `levels = [1, true]`, `factors[0]: setting "workers"`},
		{"a fraction as a level", "levels = [1, 2, 4]", `levels = [1, 1.5]`, `factors[0]: 1.5 is not a level`},
		{"a level that is no number", "levels = [1, 2, 4]", `levels = [1, nan]`, `factors[0]`},
		{"a list as a level", "levels = [1, 2, 4]", `levels = [1, [2]]`, `factors[0]: [2] is not a level`},
		{"no full size", "[sizes.full]", "[sizes.fully]", "sizes.full is missing"},
		{"no smoke size", "[sizes.smoke]", "[sizes.smoky]", "sizes.smoke is missing"},
		{"a third size", "[sizes.full]", "[sizes.huge]\nblocks = 1\nduration_s = 1\n[sizes.full]", "sizes: only smoke and full exist"},
		{"no blocks", "blocks = 6\n", "", "sizes.smoke"},
		{"negative blocks", "blocks = 12", "blocks = -12", "sizes.full"},
		{"too many blocks", "blocks = 12", "blocks = 1001", "sizes.full"},
		{"far too many blocks", "blocks = 12", "blocks = 9223372036854775807", "sizes.full"},
		{"more blocks than a number holds", "blocks = 12", "blocks = 9223372036854775808", "line 26"},
		{"no duration", "duration_s = 10.5\n", "", "sizes.full"},
		{"duration that is no number", "duration_s = 10.5", "duration_s = nan", "sizes.full"},
		{"endless duration", "duration_s = 10.5", "duration_s = inf", "sizes.full"},
		{"more than an hour", "duration_s = 10.5", "duration_s = 3601", "sizes.full"},
		{"negative warm-up", "warmup_s = 0.5", "warmup_s = -0.5", "sizes.smoke"},
		{"warm-up that is no number", "warmup_s = 0.5", "warmup_s = nan", "sizes.smoke"},
		{"endless warm-up", "warmup_s = 0.5", "warmup_s = inf", "sizes.smoke"},
		{"negative repeats", "repeats = 2", "repeats = -2", "sizes.smoke"},

		// Claims: by place and id.
		{"no id", "id = \"is-flat\"\n", "", `claims[0] "": id must be`},
		{"an entry that is no number", `entry = "7"`, `entry = "<b>7"`, `entry "<b>7"`},
		{"a title in two lines", `title = "`, `title = "a\n`, "title has U+000A"},
		{"a question that reads backwards", `question = "`, `question = "\u202e`, "question has U+202E"},
		{"a claim with a control character", `text = "It is flat."`, `text = "It is flat.\u001b[2J"`, `claims[0] "is-flat": text has U+001B`},
		{"a reason in two lines", `text = "It is flat."`, "text = \"It is flat.\"\nwhy = \"a\\nb\"", `claims[0] "is-flat": why has U+000A`},
		{"id with blanks", `id = "is-flat"`, `id = "is flat"`, `claims[0] "is flat": id must be`},
		{"id given twice", `id = "more"`, `id = "is-flat"`, `claims[1]: the id "is-flat" stands twice`},
		{"no text", "text = \"It is flat.\"\n", "", `claims[0] "is-flat": text is missing`},
		{"unknown kind", `kind = "flat"`, `kind = "flattish"`, `claims[0] "is-flat": unknown kind "flattish"`},
		{"no kind", "kind = \"flat\"\n", "", `claims[0] "is-flat": unknown kind ""`},
		{"claim on an unknown metric", "metric = \"throughput_rps\"\nover = \"workers\"\nmargin = 0.1", "metric = \"speed\"\nover = \"workers\"\nmargin = 0.1", `claims[0] "is-flat": unknown metric "speed"`},
		{"over what is no factor", "over = \"workers\"\nmargin = 0.1", "over = \"connections\"\nmargin = 0.1", `claims[0] "is-flat": over "connections": no factor`},
		{"a generator that cannot pipeline", "connections = 100", "connections = 100\ngenerator = \"fortio\"", `workers=1 pipelining=10: fortio does not pipeline`},
		{"a null server with workers", "prefork = true\nconnections = 100", "server = \"null\"\nconnections = 100", `workers=1 pipelining=1: the null server has no workers`},
		{"an unknown generator", "connections = 100", "connections = 100\ngenerator = \"oha\"", `setting "generator" (which load generator) cannot be oha`},
		{"at what is no factor", "over = \"workers\"\nmargin = 0.1", "over = \"workers\"\nmargin = 0.1\nat = { connections = 100 }", `claims[0] "is-flat": at.connections: no factor`},
		{"at no level", "over = \"workers\"\nmargin = 0.1", "over = \"workers\"\nmargin = 0.1\nat = { pipelining = 2 }", `claims[0] "is-flat": at.pipelining: 2 is none of its levels`},
		{"at what it compares", "over = \"workers\"\nmargin = 0.1", "over = \"workers\"\nmargin = 0.1\nat = { workers = 2 }", `claims[0] "is-flat": at.workers: the claim compares`},
		{"at no scalar", "over = \"workers\"\nmargin = 0.1", "over = \"workers\"\nmargin = 0.1\nat = { pipelining = [1] }", `claims[0] "is-flat": at.pipelining`},
		{"over nothing", "over = \"workers\"\nmargin = 0.1", "margin = 0.1", `claims[0] "is-flat": over "": no factor`},
		{"flat without a margin", "margin = 0.1\n", "", `claims[0] "is-flat": kind "flat" does not take`},
		{"flat with a bar", "margin = 0.1", "margin = 0.1\nat_least = 1.0", `claims[0] "is-flat": kind "flat" does not take`},
		{"flat with a bound", "margin = 0.1", "margin = 0.1\nbound = \"wire\"", `claims[0] "is-flat": kind "flat" does not take`},
		{"flat with plus", "margin = 0.1", "margin = 0.1\nplus = 1", `claims[0] "is-flat": kind "flat" does not take`},
		{"ratio with a margin", "at_least = 1.5", "at_least = 1.5\nmargin = 0.1", `claims[1] "more": kind "ratio" does not take`},
		{"ratio without a bar", "at_least = 1.5\n", "", `claims[1] "more": kind "ratio" does not take`},
		{"ratio with both bars", "at_least = 1.5", "at_least = 1.5\nat_most = 2.0", `claims[1] "more": at_least and at_most exclude each other`},
		{"monotonic without a margin", "margin = 0\n", "", `claims[3] "rises": kind "monotonic" does not take`},
		{"bound over a factor", `bound = "wire"`, "bound = \"wire\"\nover = \"workers\"", `claims[4] "wall": kind "bound" does not take`},
		{"bound with a metric", `bound = "wire"`, "bound = \"wire\"\nmetric = \"throughput_rps\"", `claims[4] "wall": kind "bound" does not take`},
		{"bound with an unknown metric", `bound = "wire"`, "bound = \"wire\"\nmetric = \"speed\"", `claims[4] "wall": `},
		{"count without equals", "equals = \"workers\"\n", "", `claims[5] "exact": kind "count" does not take`},
		{"count over a factor", "plus = 1", "over = \"workers\"", `claims[5] "exact": kind "count" does not take`},
		{"count of what is no setting", `equals = "workers"`, `equals = "worker"`, `claims[5] "exact": equals "worker"`},
		{"count of a text", `equals = "workers"`, `equals = "route"`, `claims[5] "exact": equals "route"`},
		{"count of what the experiment does not set", `equals = "workers"`, `equals = "write_buffer"`, `claims[5] "exact": equals "write_buffer"`},
		{"margin 0 for flat", "margin = 0.1", "margin = 0", `claims[0] "is-flat": margin must be above 0`},
		{"negative margin", "margin = 0.1", "margin = -0.1", `claims[0] "is-flat": margin must be above 0`},
		{"margin that is no number", "margin = 0.1", "margin = nan", `claims[0] "is-flat": margin must be above 0`},
		{"endless margin", "margin = 0.1", "margin = inf", `claims[0] "is-flat": margin must be above 0`},
		{"margin in per cent", "margin = 0.1", "margin = 10", `claims[0] "is-flat": margin must be above 0`},
		{"negative margin for monotonic", "margin = 0\n", "margin = -0.1\n", `claims[3] "rises": margin must be above 0`},
		{"bar at 0", "at_least = 1.5", "at_least = 0", `claims[1] "more": a ratio's bar`},
		{"bar that is no number", "at_least = 1.5", "at_least = nan", `claims[1] "more": a ratio's bar`},
		{"endless bar", "at_least = 1.5", "at_least = inf", `claims[1] "more": a ratio's bar`},
		{"a bar that nothing exceeds", "at_most = 0.5", "at_most = inf", `claims[2] "less": a ratio's bar`},
		{"bound misspelt", `bound = "wire"`, `bound = "wires"`, `claims[4] "wall": bound "wires"`},
		{"bound that is none", `bound = "wire"`, `bound = "unknown"`, `claims[4] "wall": bound "unknown"`},
		{"needed bound misspelt", `cores = 4, bound = "wire"`, `bound = "wier"`, `claims[4] "wall": needs.bound "wier"`},
	} {
		if n := strings.Count(whole, c.old); n == 0 {
			t.Fatalf("%s: %q does not stand in the made-up experiment", c.name, c.old)
		}
		_, err := Parse("made-up", []byte(strings.Replace(whole, c.old, c.new, 1)))
		if err == nil {
			t.Errorf("%s: accepted", c.name)
		} else if !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %q does not say %q", c.name, err, c.says)
		}
	}
}

// plan is whole as an experiment that waits for the lab: several hosts, no load.
var plan = strings.NewReplacer(
	`entry = "7"`, "entry = \"7\"\nplanned = \"the lab cannot turn the knob\"",
	`kind = "netns"`, `kind = "fleet"`, "line_rate_bps = 1_000_000\nburst_bytes = 1000\nqueue_s = 0.02\n", "",
	"route = \"/read\"\n", "irq = \"pinned\"\n", "connections = 100\n", "",
).Replace(whole)

func TestAPlannedExperimentMayNameWhatTheLabLacks(t *testing.T) {
	x := parse(t, plan)
	if x.Planned != "the lab cannot turn the knob" || x.Topology.Kind != "fleet" || x.Fixed().Key() != "prefork=true irq=pinned" {
		t.Errorf("planned %q, %s, %q", x.Planned, x.Topology.Kind, x.Fixed().Key())
	}
	if n := len(x.Conditions()); n != 6 {
		t.Errorf("%d conditions, want 3 × 2", n)
	}
	// What is left out of a plan is not left out of a design to be run.
	running := strings.Replace(plan, "planned = \"the lab cannot turn the knob\"\n", "", 1)
	if _, err := Parse("made-up", []byte(running)); err == nil || !strings.Contains(err.Error(), "settings.route is missing") {
		t.Errorf("%v, want that the route is missing", err)
	}
}

// batches is whole with a producer of events for a server.
var batches = strings.NewReplacer(
	"route = \"/read\"\n", "server = \"producer\"\ngenerator = \"sink\"\n", "connections = 100\n", "sink_latency_ms = 5\n", "prefork = true\n", "event_rate = 2000\n",
	"name = \"workers\"\nlevels = [1, 2, 4]", "name = \"variant\"\nlevels = [\"async\", \"pool-10\"]",
	"name = \"pipelining\"\nlevels = [1, 10]", "name = \"event_bytes\"\nlevels = [64, 256]",
	`over = "workers"`, `over = "variant"`, `over = "pipelining"`, `over = "event_bytes"`, `equals = "workers"`, `equals = "event_bytes"`,
	"{ workers = 4 }", "{ variant = \"async\" }",
).Replace(whole)

func TestBatchesAreWhatAProducerSends(t *testing.T) {
	if x := parse(t, batches); !x.Batches() || len(x.Conditions()) != 4 {
		t.Errorf("batches: %v, %d conditions", x.Batches(), len(x.Conditions()))
	}
	for _, c := range []struct{ name, old, new, says string }{
		{"a sink without a producer", "server = \"producer\"\n", "", "settings.route is missing"},
		{"a producer without a sink", "generator = \"sink\"\n", "", `server = "producer" and generator = "sink" belong together`},
		{"no rate", "event_rate = 2000\n", "", "settings.event_rate is missing"},
		{"a request's setting", "sink_latency_ms = 5", "connections = 5", "a producer of events has no connections"},
		{"a pool's setting", "sink_latency_ms = 5", "stagger = true", `stagger is about a pool's workers, and variant = "async" has none`},
		{"a limit by a ticker", "event_rate = 2000", "event_rate = 0\npacing = \"ticker\"", "takes pacing"},
		{"a size that no event has", "levels = [64, 256]", "levels = [64, 100]", "event_bytes = 100; use 64, 256, 1024 or 4096"},
		{"more errors than batches", "sink_latency_ms = 5", "sink_errors_permille = 1001", "sink_errors_permille = 1001 is more than all"},
	} {
		if !strings.Contains(batches, c.old) {
			t.Fatalf("%s: %q does not stand in the design", c.name, c.old)
		}
		if _, err := Parse("made-up", []byte(strings.Replace(batches, c.old, c.new, 1))); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
	if _, err := Parse("made-up", []byte(strings.Replace(whole, "prefork = true", "server = \"fiber\"\nvariant = \"async\"", 1))); err == nil || !strings.Contains(err.Error(), "variant is a producer's") {
		t.Errorf("Fiber was given a batch processor: %v", err)
	}
}

func TestAPlanIsCheckedLikeAnyDesign(t *testing.T) {
	const reason = `planned = "the lab cannot turn the knob"`
	for _, c := range []struct{ name, old, new, says string }{
		{"no reason", reason, `planned = ""`, "planned: say in one line"},
		{"a blank for a reason", reason, `planned = " "`, "planned: say in one line"},
		{"a reason of two lines", reason, `planned = "a\nb"`, "planned: say in one line"},
		{"yes for a reason", reason, `planned = true`, "line 2"},
		{"in the core set", reason, reason + "\ncore = true", "core: a planned experiment"},
		{"a setting that nobody knows", `irq = "pinned"`, `irqs = "pinned"`, `settings.irqs: unknown setting "irqs"`},
		{"a level that it has not", `irq = "pinned"`, `irq = "other"`, `settings.irq: setting "irq"`},
		{"a fleet with a line rate", `kind = "fleet"`, "kind = \"fleet\"\nline_rate_bps = 1", "topology: fleet has no line rate"},
		{"a claim over what is no factor", `over = "pipelining"`, `over = "rate"`, `over "rate": no factor`},
	} {
		if !strings.Contains(plan, c.old) {
			t.Fatalf("%s: %q does not stand in the plan", c.name, c.old)
		}
		if _, err := Parse("made-up", []byte(strings.Replace(plan, c.old, c.new, 1))); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
}

// What a machine has of knobs and of other machines is for a run to find, not
// for the design.
func TestADesignToBeRunMayTurnKnobsOfAFleet(t *testing.T) {
	x := parse(t, strings.NewReplacer(
		`kind = "netns"`, `kind = "fleet"`, "line_rate_bps = 1_000_000\nburst_bytes = 1000\nqueue_s = 0.02\n", "",
		"prefork = true\n", "irqbalance = false\n",
		"name = \"pipelining\"\nlevels = [1, 10]", "name = \"irq\"\nlevels = [\"default\", \"pinned\"]",
		`over = "pipelining"`, `over = "irq"`,
	).Replace(whole))
	if x.Planned != "" || x.Topology.Kind != "fleet" || x.Conditions()[1].Key() != "workers=1 irq=pinned" {
		t.Errorf("planned %q, %s, %q", x.Planned, x.Topology.Kind, x.Conditions()[1].Key())
	}
}

func TestRefusesAnExperimentThatDecidesNothing(t *testing.T) {
	claims := whole[:strings.Index(whole, "[[claims]]")]
	if _, err := Parse("made-up", []byte(claims)); err == nil || !strings.Contains(err.Error(), "claims is missing") {
		t.Errorf("without claims: %v", err)
	}
	start, end := strings.Index(whole, "[[factors]]"), strings.Index(whole, "[sizes.smoke]")
	if _, err := Parse("made-up", []byte(whole[:start]+whole[end:])); err == nil || !strings.Contains(err.Error(), "factors is missing") {
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
	if _, err := Load(path); err == nil || !strings.HasPrefix(err.Error(), path+": line 36") {
		t.Errorf("%v, want %s: line 36", err, path)
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
		if !strings.HasPrefix(x.Name, x.Entry+"-") {
			t.Errorf("%s belongs to entry %s", x.Name, x.Entry)
		}
		if x.Core {
			core++
		}
		// Fewer cannot give a 95 % interval of a median, so no claim of it
		// could ever be reproduced.
		for name, s := range x.Sizes {
			if s.Blocks < 6 {
				t.Errorf("%s, %s: %d blocks", x.Name, name, s.Blocks)
			}
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

// sound checks what everything that reads an experiment relies on.
func sound(x *Experiment) error {
	if n := len(x.Conditions()); n < 2 {
		return fmt.Errorf("%d conditions", n)
	}
	finite := map[string]float64{"line rate": x.Topology.LineRateBps, "queue": x.Topology.QueueS}
	for name, s := range x.Sizes {
		finite[name+" warm-up"], finite[name+" duration"] = s.WarmupS, s.DurationS
	}
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
	for _, s := range []string{"margin = nan", "margin = inf", "margin = 0x10", "margin = 1e400", "margin = \"0.1\"", "margin = 1979-05-27"} {
		f.Add([]byte(strings.Replace(whole, "margin = 0.1", s, 1)))
	}
	f.Add([]byte(strings.Replace(whole, "warmup_s = 0.5", "warmup_s = nan", 1)))
	f.Fuzz(func(t *testing.T, data []byte) {
		// A product of long lists of levels is slow, and shows nothing more.
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

// profiling is whole as an experiment that takes profiles, with a claim of each
// kind about them.
var profiling = strings.NewReplacer("duration_s = 10.5", "duration_s = 10", "[sizes.smoke]", "[profile]\ncompare = \"workers\"\n[sizes.smoke]").Replace(whole) + `
[[claims]]
id = "seen"
kind = "share"
text = "It is seen."
profile = "block"
package = "github.com/brianvoe/gofakeit"
at_least = 0.01
[[claims]]
id = "writes"
kind = "share"
text = "It writes."
profile = "cpu"
work = "write"
at_most = 0.5
[[claims]]
id = "gone"
kind = "absent"
text = "It is gone."
profile = "mutex"
package = "github.com/brianvoe/gofakeit"
at = { workers = 4 }
`

func TestReadsClaimsAboutProfiles(t *testing.T) {
	x := parse(t, profiling)
	if x.Profile == nil || x.Profile.Compare != "workers" {
		t.Errorf("profile %+v", x.Profile)
	}
	if c := x.Claims[6]; c.Kind != Share || c.Profile != "block" || c.Package != "github.com/brianvoe/gofakeit" || *c.AtLeast != 0.01 {
		t.Errorf("claim %+v", c)
	}
	if c := x.Claims[7]; c.Work != "write" || *c.AtMost != 0.5 {
		t.Errorf("claim %+v", c)
	}
	if c := x.Claims[8]; c.Kind != Absent || c.Where().Key() != "workers=4" {
		t.Errorf("claim %+v", c)
	}
}

func TestRefusesProfilesThatCouldNotBeTakenOrRead(t *testing.T) {
	for _, c := range []struct{ name, old, new, says string }{
		{"compare what is no factor", `compare = "workers"`, `compare = "route"`, `profile.compare "route": no factor`},
		{"an unknown key", `compare = "workers"`, `kinds = ["cpu"]`, `unknown key "profile.kinds"`},
		{"part of a second", "duration_s = 10\n", "duration_s = 10.5\n", "sizes.full.duration_s: whole seconds"},
		{"an unknown kind", `profile = "block"`, `profile = "threads"`, `claims[6] "seen": profile "threads": use one of`},
		{"no kind", "profile = \"block\"\n", "", `claims[6] "seen": profile ""`},
		{"neither package nor work", "work = \"write\"\n", "", `claims[7] "writes": say either package or work`},
		{"both", "work = \"write\"", "work = \"write\"\npackage = \"sync\"", `claims[7] "writes": say either package or work`},
		{"an unknown kind of work", `work = "write"`, `work = "writing"`, `claims[7] "writes": work "writing"`},
		{"a package by its version", `package = "github.com/brianvoe/gofakeit"`, `package = "github.com/brianvoe/gofakeit/v7"`, `claims[6] "seen": package "github.com/brianvoe/gofakeit/v7": profiles count it as "github.com/brianvoe/gofakeit"`},
		{"a share with a metric", `work = "write"`, "work = \"write\"\nmetric = \"throughput_rps\"", `claims[7] "writes": kind "share" does not take`},
		{"a share without a bar", "at_least = 0.01\n", "", `claims[6] "seen": kind "share" does not take`},
		{"a share in per cent", "at_least = 0.01", "at_least = 2", `claims[6] "seen": a share's bar lies between 0 and 1`},
		{"a share that is always so", "at_most = 0.5\n[[claims]]\nid = \"gone\"", "at_most = 1\n[[claims]]\nid = \"gone\"", `claims[7] "writes": a share's bar lies between 0 and 1`},
		{"absent with a bar", "profile = \"mutex\"", "profile = \"mutex\"\nat_most = 0.1", `claims[8] "gone": kind "absent" does not take`},
		{"a ratio of a profile", "at_least = 1.5", "at_least = 1.5\nprofile = \"cpu\"", `claims[1] "more": kind "ratio" does not take`},
	} {
		if !strings.Contains(profiling, c.old) {
			t.Fatalf("%s: %q does not stand in the made-up experiment", c.name, c.old)
		}
		_, err := Parse("made-up", []byte(strings.Replace(profiling, c.old, c.new, 1)))
		if err == nil {
			t.Errorf("%s: accepted", c.name)
		} else if !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %q does not say %q", c.name, err, c.says)
		}
	}
	_, err := Parse("made-up", []byte(strings.Replace(profiling, "[profile]\ncompare = \"workers\"\n", "", 1)))
	if err == nil || !strings.Contains(err.Error(), `claims[6] "seen": profile: the experiment takes none`) {
		t.Errorf("without a [profile] table: %v", err)
	}
}
