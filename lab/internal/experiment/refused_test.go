package experiment

import (
	"strings"
	"testing"
)

func TestRefusesWhatIsBroken(t *testing.T) {
	const bounded = `kind = "bound"
text = "The wire is the wall."
why = "Made up."
bound = "wire"
needs = { line_rate = true, cores = 4, bound = "wire" }`
	for _, c := range []struct {
		name, old, new string // old is replaced once; it must be there
		says           string
	}{
		// Errors of syntax and shape name the line.
		{"unknown key", `title = "A made-up comparison"`, "titel = \"x\"",
			`line 2: unknown key "titel"; did you mean "title"?`},
		{"unknown key in a claim", "margin = 0.1", "margn = 0.1",
			`line 33: unknown key "claims.margn"; did you mean "margin"?`},
		{"unknown key in a block", "rounds = 6", "round = 6", `line 24: unknown key "block.round"`},
		{"unknown need", "cores = 4", "core = 4",
			`line 64: unknown key "claims.core"; did you mean "cores"? There are bound, line_rate, cores`},
		{"unknown table", "[settings]", "[settings.x]\n[setting]", `unknown key "setting`},
		{"key given twice", "margin = 0.1", "margin = 0.1\nmargin = 0.2", `line 34, column 1: key margin is already defined`},
		{"table given twice", "[block]", "[topology]", `line 22`},
		{"a bracket is missing", "levels = [1, 2, 4]", "levels = [1, 2, 4", `line 19`},
		{"a quote is missing", `entry = "7"`, `entry = "7`, `line 1`},
		{"no value", "rounds = 6", "rounds =", `line 24`},
		{"a text for a number", "rounds = 6", `rounds = "six"`, `line 24`},
		{"a number for a text", `entry = "7"`, `entry = 7`, `line 1`},
		{"a fraction of a round", "rounds = 6", "rounds = 6.5", `line 24`},
		{"one level, no list", "levels = [1, 2, 4]", "levels = 1", `line 18`},
		{"invalid UTF-8", "Does it", "Does \xff it", `line 3`},
		// The TOML decoder ignores case: of two spellings the last one would win.
		{"another spelling of a key", "margin = 0.1", "margin = 0.1\nMargin = 9", `Margin`},
		{"a key in capitals", `entry = "7"`, `ENTRY = "7"`, `ENTRY`},

		// Errors of meaning name the field.
		{"no entry", `entry = "7"`, "", "entry is missing"},
		{"no title", `title = "A made-up comparison"`, "", "title is missing"},
		{"empty question", `question = "Does it matter?"`, `question = ""`, "question is missing"},
		{"no metrics", `metrics = ["throughput_rps"]`, "", "metrics is missing"},
		{"unknown metric", `metrics = ["throughput_rps"]`, `metrics = ["throughput_rps", "speed"]`,
			`metrics: unknown metric "speed"`},
		{"unknown topology", `kind = "netns"`, `kind = "moon"`,
			`topology.kind: unknown kind "moon"; there are loopback, netns, fleet`},
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
		{"a factor that is set as well", "connections = 100", "connections = 100\nworkers = 1",
			`factors[0]: "workers" is set twice`},
		{"a factor given twice", `name = "pipelining"`, `name = "workers"`, `factors[1]: "workers" is set twice`},
		{"a generator that the lab does not have", "http_load", "vegeta",
			"workers=1 pipelining=1: the lab does not run vegeta; use http_load or autocannon"},
		{"a generator that the lab had once", "http_load", "fortio",
			"workers=1 pipelining=1: the lab does not run fortio any more; use http_load or autocannon"},
		{"a stack without prefork", "prefork = true", "prefork = true\nstack = \"net-http\"", "net-http has no prefork"},
		{"a stack that would fork by default", "prefork = true", "stack = \"fasthttp\"", "fasthttp has no prefork"},
		{"interrupts on a wire of two namespaces", "prefork = true", "prefork = true\nirq = \"pinned\"",
			"settings.irq: netns has nothing to turn it on"},
		{"cores that are no list", "kind = \"netns\"\nline_rate_bps = 1_000_000\nburst_bytes = 1000\nqueue_s = " +
			"0.02\n[settings]", "kind = \"fleet\"\n[settings]\nserver_cpus = \"all\"",
			`settings.server_cpus: setting "server_cpus" (cores the server may use) cannot be all`},
		{"cores from high to low", "kind = \"netns\"\nline_rate_bps = 1_000_000\nburst_bytes = 1000\nqueue_s = " +
			"0.02\n[settings]", "kind = \"fleet\"\n[settings]\nserver_cpus = \"5-0\"",
			`settings.server_cpus: "5-0" is not a list of CPUs`},
		{"a route on another server", `route = "/read"`, `route = "@127.0.0.1:19999/x"`,
			`settings.route: setting "route" (path requested) cannot be @127.0.0.1:19999/x`},
		{"a route of another host", `route = "/read"`, `route = "//127.0.0.1:19999/x"`, `settings.route: setting "route"`},
		{"a route with a query", `route = "/read"`, `route = "/read?n=1"`, `settings.route: setting "route"`},
		{"a route that is markup", `route = "/read"`, `route = "/<img src=x>"`, `settings.route: setting "route"`},
		{"several paths at once", `route = "/read"`, `route = "60 % /read + 40 % /list"`,
			"the lab requests one path at a time"},
		{"an unknown stack", "prefork = true", "stack = \"gin\"", `settings.stack: setting "stack"`},
		{"a stack of the null server", "prefork = true", "server = \"null\"\nstack = \"fiber\"",
			"the null server has no stack"},
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

		// Errors in claims name the index and the id.
		{"no id", "id = \"is-flat\"\n", "", `claims[0] "": id must be`},
		{"an entry that is no number", `entry = "7"`, `entry = "<b>7"`, `entry "<b>7"`},
		{"a title in two lines", `title = "`, `title = "a\n`, "title has U+000A"},
		{"a question that reads backwards", `question = "`, `question = "\u202e`, "question has U+202E"},
		{"a claim with a control character", `text = "It is flat."`, `text = "It is flat.\u001b[2J"`,
			`claims[0] "is-flat": text has U+001B`},
		{"a reason in two lines", "why = \"Made up.\"\nmetric = \"throughput_rps\"\nover = \"workers\"\nmargin",
			"why = \"a\\nb\"\nmetric = \"throughput_rps\"\nover = \"workers\"\nmargin", `claims[0] "is-flat": why has U+000A`},
		{"id with blanks", `id = "is-flat"`, `id = "is flat"`, `claims[0] "is flat": id must be`},
		{"id given twice", `id = "more"`, `id = "is-flat"`, `claims[1]: the id "is-flat" stands twice`},
		{"no text", "text = \"It is flat.\"\n", "", `claims[0] "is-flat": text is missing`},
		{"unknown kind", `kind = "flat"`, `kind = "flattish"`,
			`claims[0] "is-flat": unknown kind "flattish"; did you mean "flat"? There are flat, ratio, monotonic, bound, moves, count, value, share, absent`},
		{"a kind with a slip", `kind = "flat"`, `kind = "flta"`,
			`claims[0] "is-flat": unknown kind "flta"; did you mean "flat"? There are flat, ratio`},
		{"no reason", "text = \"It is flat.\"\nwhy = \"Made up.\"", "text = \"It is flat.\"",
			`claims[0] "is-flat": why is missing`},
		{"a blank reason", `why = "Made up."`, `why = " "`, `claims[0] "is-flat": why is missing`},
		{"a route that the server does not have", `route = "/read"`, `route = "/raed"`,
			`the fiber server has no route "/raed"; did you mean "/read"? There are /simple, `},
		{"a setting with a slip", "prefork = true", "prefrok = true",
			`settings.prefrok: unknown setting "prefrok"; did you mean "prefork"?`},
		{"a metric with a slip", `metrics = ["throughput_rps"]`, `metrics = ["throughput_rsp"]`,
			`metrics: unknown metric "throughput_rsp"; did you mean "throughput_rps"?`},
		{"a level with a slip", "http_load", "http_laod", `cannot be "http_laod"; did you mean "http_load"?`},
		{"a topology with a slip", `kind = "netns"`, `kind = "nets"`,
			`topology.kind: unknown kind "nets"; did you mean "netns"?`},
		{"a factor with a slip", `over = "workers"`, `over = "worker"`,
			`over "worker": no factor of that name; did you mean "workers"?`},
		{"no kind", "kind = \"flat\"\n", "", `claims[0] "is-flat": unknown kind ""`},
		{"claim on an unknown metric", "metric = \"throughput_rps\"\nover = \"workers\"\nmargin = 0.1",
			"metric = \"speed\"\nover = \"workers\"\nmargin = 0.1", `claims[0] "is-flat": unknown metric "speed"`},
		{"over what is no factor", "over = \"workers\"\nmargin = 0.1", "over = \"connections\"\nmargin = 0.1",
			`claims[0] "is-flat": over "connections": no factor`},
		{"a null server with workers", "prefork = true", "server = \"null\"",
			`workers=1 pipelining=1: the null server has no workers`},
		{"an unknown generator", "http_load", "oha", `setting "generator" (which load generator) cannot be "oha"; there are`},
		{"at what is no factor", "over = \"workers\"\nmargin = 0.1",
			"over = \"workers\"\nmargin = 0.1\nat = { connections = 100 }", `claims[0] "is-flat": at.connections: no factor`},
		{"at no level", "over = \"workers\"\nmargin = 0.1", "over = \"workers\"\nmargin = 0.1\nat = { pipelining = 2 }",
			`claims[0] "is-flat": at.pipelining: 2 is none of its levels`},
		{"at what it compares", "over = \"workers\"\nmargin = 0.1", "over = \"workers\"\nmargin = 0.1\nat = { workers = 2 }",
			`claims[0] "is-flat": at.workers: the claim compares`},
		{"at no scalar", "over = \"workers\"\nmargin = 0.1", "over = \"workers\"\nmargin = 0.1\nat = { pipelining = [1] }",
			`claims[0] "is-flat": at.pipelining`},
		{"over nothing", "over = \"workers\"\nmargin = 0.1", "margin = 0.1", `claims[0] "is-flat": kind "flat" lacks over`},
		{"flat without a margin", "margin = 0.1\n", "", `claims[0] "is-flat": kind "flat" lacks`},
		{"flat with a bar", "margin = 0.1", "margin = 0.1\nat_least = 1.0", `claims[0] "is-flat": kind "flat" does not take`},
		{"flat with a bound", "margin = 0.1", "margin = 0.1\nbound = \"wire\"",
			`claims[0] "is-flat": kind "flat" does not take`},
		{"flat with plus", "margin = 0.1", "margin = 0.1\nplus = 1", `claims[0] "is-flat": kind "flat" does not take`},
		{"ratio with a margin", "at_least = 1.5", "at_least = 1.5\nmargin = 0.1",
			`claims[1] "more": kind "ratio" does not take`},
		{"ratio without a bar", "at_least = 1.5\n", "", `claims[1] "more": kind "ratio" lacks`},
		{"ratio with both bars", "at_least = 1.5", "at_least = 1.5\nat_most = 2.0",
			`claims[1] "more": at_least and at_most exclude each other`},
		{"monotonic without a margin", "margin = 0\n", "", `claims[3] "rises": kind "monotonic" lacks`},
		{"bound over a factor", `bound = "wire"`, "bound = \"wire\"\nover = \"workers\"",
			`claims[4] "wall": kind "bound" does not take`},
		{"bound with a metric", `bound = "wire"`, "bound = \"wire\"\nmetric = \"throughput_rps\"",
			`claims[4] "wall": kind "bound" does not take`},
		{"bound with an unknown metric", `bound = "wire"`, "bound = \"wire\"\nmetric = \"speed\"", `claims[4] "wall": `},
		{"count without equals", "equals = \"workers\"\nplus = 1\n", "", `claims[5] "exact": kind "count" lacks`},
		{"count over a factor", "plus = 1", "over = \"workers\"", `claims[5] "exact": kind "count" does not take`},
		{"count of what is no setting", `equals = "workers"`, `equals = "worker"`, `claims[5] "exact": equals "worker"`},
		{"count of a text", `equals = "workers"`, `equals = "route"`, `claims[5] "exact": equals "route"`},
		{"count of what the experiment does not set", `equals = "workers"`, `equals = "write_buffer"`,
			`claims[5] "exact": equals "write_buffer"`},
		{"margin 0 for flat", "margin = 0.1", "margin = 0", `claims[0] "is-flat": margin must be above 0`},
		{"negative margin", "margin = 0.1", "margin = -0.1", `claims[0] "is-flat": margin must be above 0`},
		{"margin that is no number", "margin = 0.1", "margin = nan", `claims[0] "is-flat": margin must be above 0`},
		{"endless margin", "margin = 0.1", "margin = inf", `claims[0] "is-flat": margin must be above 0`},
		{"margin in per cent", "margin = 0.1", "margin = 10", `claims[0] "is-flat": margin must be above 0`},
		{"negative margin for monotonic", "margin = 0\n", "margin = -0.1\n", `claims[3] "rises": margin must be above 0`},
		{"bar at 0", "at_least = 1.5", "at_least = 0", `claims[1] "more": a bar must be`},
		{"bar that is no number", "at_least = 1.5", "at_least = nan", `claims[1] "more": a bar must be`},
		{"endless bar", "at_least = 1.5", "at_least = inf", `claims[1] "more": a bar must be`},
		{"a bar that nothing exceeds", "at_most = 0.5", "at_most = inf", `claims[2] "less": a bar must be`},
		{"bound misspelt", `bound = "wire"`, `bound = "wires"`, `claims[4] "wall": bound "wires"`},
		{"bound that is none", `bound = "wire"`, `bound = "unknown"`, `claims[4] "wall": bound "unknown"`},
		{"a wall that moves nowhere", bounded, `kind = "moves"
text = "It moves."
why = "Made up."
over = "workers"
from = "wire"
margin = 0.1`, `claims[4] "wall": kind "moves" lacks`},
		{"a wall that moves, and has none to leave", bounded, `kind = "moves"
text = "It moves."
why = "Made up."
over = "workers"
to = "wire"
margin = 0.1`, `claims[4] "wall": kind "moves" lacks`},
		{"a wall that moves to itself", bounded, `kind = "moves"
text = "It moves."
why = "Made up."
over = "workers"
from = "wire"
to = "wire"
margin = 0.1`, `claims[4] "wall": from "wire" and to "wire": use two of`},
		{"a wall that moves to none", bounded, `kind = "moves"
text = "It moves."
why = "Made up."
over = "workers"
from = "wire"
to = "disk"
margin = 0.1`, `claims[4] "wall": from "wire" and to "disk": use two of`},
		{"a wall that moves without a margin", bounded, `kind = "moves"
text = "It moves."
why = "Made up."
over = "workers"
from = "wire"
to = "server-cpu"`, `claims[4] "wall": kind "moves" lacks`},
		{"a wall that moves by nothing", bounded, `kind = "moves"
text = "It moves."
why = "Made up."
over = "workers"
from = "wire"
to = "server-cpu"
margin = 0`, `claims[4] "wall": margin must be above 0`},
		{"a wall that moves by all", bounded, `kind = "moves"
text = "It moves."
why = "Made up."
over = "workers"
from = "wire"
to = "server-cpu"
margin = 1`, `claims[4] "wall": margin is a share`},
		{"a wall that moves along no factor", bounded, `kind = "moves"
text = "It moves."
why = "Made up."
over = "route"
from = "wire"
to = "server-cpu"
margin = 0.1`, `claims[4] "wall": over "route": no factor`},
		{"a wall that moves from an unknown wire", bounded, `kind = "moves"
text = "It moves."
why = "Made up."
over = "workers"
from = "wire"
to = "server-cpu"
margin = 0.1`, `claims[4] "wall": a wall moves from or to a wire only where`},
		{"a wall that moves and stays", bounded, `kind = "moves"
text = "It moves."
why = "Made up."
over = "workers"
from = "wire"
to = "server-cpu"
margin = 0.1
needs = { line_rate = true, bound = "wire" }`, `claims[4] "wall": needs.bound is one wall`},
		{"a wall that is met and moves", bounded, `kind = "bound"
text = "t"
why = "Made up."
bound = "wire"
from = "wire"`, `claims[4] "wall": kind "bound" does not take`},
		{"fewer than no cores", `cores = 4, bound`, `cores = -1, bound`, `claims[4] "wall": needs.cores = -1`},
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
