package experiment

import (
	"strings"
	"testing"
)

// Designs of other shapes than whole: with profiles, with a producer of events, and with servers of its own.
var (
	profiling = strings.Replace(whole, "[block]", "[profile]\nseconds = 2\n[block]", 1) +
		claim("seen", "share", "It is seen.", `profile = "block"`, `package = "github.com/brianvoe/gofakeit"`,
			"at_least = 0.01") +
		claim("writes", "share", "It writes.", `profile = "cpu"`, `work = "write"`, "at_most = 0.5")
	batches = strings.NewReplacer(
		"route = \"/read\"\n", "server = \"producer\"\n", "http_load", "sink", "rounds = 6", "rounds = 1",
		"connections = 100\n", "sink_latency_ms = 5\n", "prefork = true\n", "event_rate = 2000\n",
		"name = \"workers\"\nlevels = [1, 2, 4]", "name = \"variant\"\nlevels = [\"async\", \"pool-10\"]",
		"name = \"pipelining\"\nlevels = [1, 10]", "name = \"event_bytes\"\nlevels = [64, 256]",
		`over = "workers"`, `over = "variant"`, `over = "pipelining"`, `over = "event_bytes"`, `equals = "workers"`,
		`equals = "event_bytes"`).Replace(whole)
	owning = strings.NewReplacer(`name = "pipelining"`, `name = "server"`, "levels = [1, 10]", `levels = ["fast", "slow"]`,
		`over = "pipelining"`, `over = "server"`).Replace(whole) + `
[servers.fast]
command = "fast {addr} {workers} {prefork}"
[servers.slow]
command = "slow {addr} {workers} {prefork}"
`
	ramp = strings.NewReplacer(`kind = "netns"`, `kind = "fleet"`,
		"line_rate_bps = 1_000_000\nburst_bytes = 1000\nqueue_s = 0.02\n", "").Replace(whole)
)

// A row replaces text of a design once, and says what the error says: the line, or the field.
func TestRefusesWhatIsBroken(t *testing.T) {
	for base, rows := range map[string][][3]string{
		whole: {
			{`title = "A made-up comparison"`, `titel = "x"`, `line 2: unknown key "titel"; did you mean "title"?`},
			{"margin = 0.1", "margn = 0.1", `line 33: unknown key "claims.margn"; did you mean "margin"?`},
			{"cores = 4", "core = 4", `line 65: unknown key "claims.core"; did you mean "cores"?`},
			{"margin = 0.1", "margin = 0.1\nmargin = 0.2", `line 34, column 1: key margin is already defined`},
			{"levels = [1, 2, 4]", "levels = [1, 2, 4", `line 19`},
			{`entry = "7"`, `entry = "7`, `line 1`},
			{"rounds = 6", `rounds = "six"`, `line 24`},
			{"Does it", "Does \xff it", `line 3`},
			{"margin = 0.1", "margin = 0.1\nMargin = 9", `Margin`}, // of two spellings the last one would win

			{`entry = "7"`, "", `entry ""`},
			{`entry = "7"`, `entry = "<b>7"`, `entry "<b>7"`},
			{`title = "A made-up comparison"`, "", "title, question or topology.kind is missing"},
			{`title = "`, `title = "a\n`, "title has U+000A"},
			{`question = "`, `question = "\u202e`, "question has U+202E"},
			{`metrics = ["throughput_rps"]`, "", "metrics is missing"},
			{`metrics = ["throughput_rps"]`, `metrics = ["throughput_rsp"]`, `did you mean "throughput_rps"?`},
			{`kind = "netns"`, "", "topology.kind is missing"},
			{`kind = "netns"`, `kind = "loopback"`, "topology: loopback has no line rate"},
			{"line_rate_bps = 1_000_000", "line_rate_bps = nan", "topology: netns needs line_rate_bps"},
			{"burst_bytes = 1000", "", "topology: netns needs"},

			{"prefork = true", "prefrok = true", `settings.prefrok: unknown setting "prefrok"; did you mean "prefork"?`},
			{"prefork = true", "prefork = 1", `settings.prefork: setting "prefork"`},
			{"connections = 100", "connections = [100]", `settings.connections: [100] is not a level`},
			{"connections = 100\n", "", "settings.connections is missing"},
			{"connections = 100", "connections = 100\nworkers = 1", `factors[0]: "workers" is set twice`},
			{`name = "pipelining"`, `name = "workers"`, `factors[1]: "workers" is set twice`},
			{"levels = [1, 2, 4]", "levels = [1]", `factors[0]: "workers" needs at least two levels`},
			{"levels = [1, 2, 4]", "levels = [1, 4, 2]", `factors[0]: "workers": levels must rise`},
			{"levels = [1, 2, 4]", "levels = [1, 1.5]", `factors[0]: 1.5 is not a level`},
			{"http_load", "vegeta", "workers=1 pipelining=1: the fiber server is loaded by http_load or autocannon"},
			{"prefork = true", "prefork = true\nirq = \"pinned\"", "settings.irq: it has no effect on netns"},
			{"prefork = true", "clients = 2", "settings.clients: it has no effect on netns; it takes topology [fleet]"},
			{`route = "/read"`, `route = "@127.0.0.1:19999/x"`, `settings.route: setting "route" (path requested) cannot be`},
			{`route = "/read"`, `route = "60 % /read + 40 % /list"`, "the lab requests one path at a time"},
			{`route = "/read"`, `route = "/raed"`, `the fiber server has no route "/raed"; did you mean "/read"?`},
			{"prefork = true", "server = \"null\"", "the null server has no workers"},
			{"prefork = true", "server = \"fibre\"", `settings.server: no server "fibre"; did you mean "fiber"`},
			{"prefork = true", "event_rate = 5", "the fiber server has no event_rate"},

			{"budget_s = 60\n", "", "budget_s = 0: give 1 to 86400"},
			{"budget_s = 60", "budget_s = nan", "budget_s = NaN"},
			{"[block]\nslot_s = 0.1\nrounds = 6\nwarmup_s = 0.2\n", "", "block.slot_s = 0: give 0.01 to 60"},
			{"rounds = 6", "rounds = 101", "block.rounds = 101: give 1 to 100"},
			{"http_load", "autocannon", "block.rounds = 6: autocannon measures in one piece; write rounds = 1"},

			{whole[strings.Index(whole, "[[claims]]"):strings.Index(whole, "[[withdrawn]]")], "", "claims is missing"},
			{whole[strings.Index(whole, "[[factors]]"):strings.Index(whole, "[block]")], "", "factors is missing"},
			{`id = "is-flat"`, `id = "is flat"`, `claims[0] "is flat": id must be`},
			{`id = "more"`, `id = "is-flat"`, `claims[1]: the id "is-flat" is there twice`},
			{"text = \"It is flat.\"\n", "", `claims[0] "is-flat": text is missing`},
			{`text = "It is flat."`, `text = "It is flat.\u001b[2J"`, `claims[0] "is-flat": text has U+001B`},
			{`why = "Made up."`, `why = " "`, `claims[0] "is-flat": why is missing`},
			{"kind = \"flat\"\n", "", `claims[0] "is-flat": kind is missing`},
			{`kind = "flat"`, `kind = "flta"`, `claims[0] "is-flat": kind "flta": unknown; did you mean "flat"?`},
			{`owner = "series"`, `owner = "us"`, `owner "us": unknown; there are series, journal, control, check`},
			{"over = \"workers\"\nmargin", "over = \"worker\"\nmargin", `over "worker": unknown; did you mean "workers"?`},
			{"metric = \"throughput_rps\"\nover", "metric = \"speed\"\nover", `claims[0] "is-flat": metric "speed"`},
			{"over = \"workers\"\nmargin", "margin", `claims[0] "is-flat": kind "flat" lacks over; it takes metric over margin`},
			{"margin = 0.1", "margin = 0.1\nat_least = 1.0", `claims[0] "is-flat": kind "flat" does not take at_least`},
			{"margin = 0.1", "margin = 0", `claims[0] "is-flat": margin must be above 0`},
			{"margin = 0.1", "margin = nan", `claims[0] "is-flat": margin must be above 0`},
			{"margin = 0.1", "margin = 0.1\nabout = \"server\"", `claims[0] "is-flat": about "server"`},
			{"margin = 0.1", "margin = 0.1\nat = { connections = 100 }", `claims[0] "is-flat": at.connections: no factor`},
			{"margin = 0.1", "margin = 0.1\nat = { pipelining = 2 }", `at.pipelining: 2 is no level of pipelining`},
			{"margin = 0.1", "margin = 0.1\nat = { workers = 2 }", `at.workers: the claim compares`},
			{"margin = 0.1", "margin = 0.1\nlevels = [1]", "levels: name two or more, or leave them out"},
			{"margin = 0.1", "margin = 0.1\nlevels = [1, 3]", `levels[1]: 3 is no level of workers`},
			{"margin = 0.1", "margin = 0.1\nlevels = [1, 1]", `levels[1]: 1 is there twice`},
			{"at_least = 1.5", "at_least = 1.5\nlevels = [1, 2, 4]", "a ratio is of two, the second over the first"},
			{"at_least = 1.5\n", "", `claims[1] "more": kind "ratio" lacks at_least or at_most`},
			{"at_least = 1.5", "at_least = 1.5\nat_most = 1.4", `claims[1] "more": a bar must be`},
			{"at_least = 1.5", "at_least = 0", `claims[1] "more": a bar must be`},
			{"at_most = 0.5", "at_most = inf", `claims[2] "less": a bar must be`},
			{`bound = "wire"`, "bound = \"wire\"\nover = \"workers\"", `claims[4] "wall": kind "bound" does not take over`},
			{`bound = "wire"`, `bound = "wires"`, `claims[4] "wall": bound "wires"`},
			{`cores = 4, bound`, `cores = -1, bound`, `claims[4] "wall": needs.cores = -1`},
			{`cores = 4, bound = "wire"`, `bound = "wier"`, `claims[4] "wall": needs.bound "wier"`},
			{"equals = \"workers\"\nplus = 1\n", "", `kind "value" lacks at_least or at_most or equals`},
			{"equals = \"workers\"", "at_least = 1", `claims[5] "exact": equals is the setting`},
			{`equals = "workers"`, `equals = "write_buffer"`, `claims[5] "exact": equals "write_buffer"`},
			{`id = "old"`, `id = "more"`, `withdrawn[0]: the id "more" is there twice; a new claim takes a new id`},
			{`why = "It was wide."`, "", `withdrawn[0] "old": give an id, and why`},
		},
		profiling: {
			{"seconds = 2\n", "seconds = 2.5\n", "profile.seconds = 2.5: net/http/pprof takes whole seconds"},
			{"[profile]\nseconds = 2\n", "", `claims[6] "seen": profile: the experiment takes none`},
			{`profile = "block"`, `profile = "threads"`, `claims[6] "seen": profile "threads": unknown; there are`},
			{"work = \"write\"\n", "", `claims[7] "writes": kind "share" lacks package or work`},
			{"work = \"write\"", "work = \"write\"\npackage = \"sync\"", `package and work exclude each other`},
			{`work = "write"`, `work = "writing"`, `claims[7] "writes": work "writing"`},
			{`gofakeit"`, `gofakeit/v7"`, `profiles count it as "github.com/brianvoe/gofakeit"`},
			{"at_least = 0.01", "at_least = 2", `claims[6] "seen": a share's bar lies between 0 and 1`},
			{"work = \"write\"\nat_most = 0.5", "work = \"write\"\nat_most = 1", `claims[7] "writes": a share's bar`},
		},
		batches: {
			{"server = \"producer\"\n", "", "the fiber server is loaded by http_load or autocannon, and not by sink"},
			{"generator = \"sink\"\n", "", "the producer server is loaded by sink"},
			{"event_rate = 2000\n", "", "settings.event_rate is missing"},
			{"sink_latency_ms = 5", "connections = 5", "the producer server has no connections"},
			{"rounds = 1", "rounds = 2", "block.rounds = 2: sink measures in one piece"},
		},
		owning: {
			{`"slow"]`, `"slwo"]`, `no server "slwo"; did you mean "slow"?`},
			{"fast {addr} {workers} {prefork}", "fast {addr} {workers}", "the fast server has no prefork"},
			{"http_load", "autocannon", "the fast server's are its own; use http_load"},
			{"[servers.slow]", "[servers.null]", "servers.null: lab/servers.toml has a server of that name"},
			{"[servers.fast]", "[servers.Fast]", "servers.Fast: a server's name is lower-case"},
			{"command = \"fast {addr} {workers} {prefork}\"", "", "servers.fast: command: say how"},
			{"fast {addr}", "'fast {addr}", "servers.fast: command has a quote ' that does not end"},
			{"fast {addr}", "{addr}", "the first word is the program"},
			{"fast {addr}", "fast {adr}", `servers.fast: command: "adr": unknown; did you mean "addr"?`},
			{"fast {addr}", "fast {addr}\"\nenv = { A = \"{wokers}\" }\ntitle = \"", `did you mean "workers"?`},
			{"fast {addr}", "fast {addr}\"\nanswers = \"fibre\"\ntitle = \"", `answers "fibre": unknown`},
			{"fast {addr}", "fast {addr}\"\nprefork = true\ntitle = \"", "say in ready"},
			{"fast {addr}", "fast {addr}\"\nready = \"y\"\nevents = true\nanswers = \"null\"\ntitle = \"", "answers none"},
			{"fast {addr}", "fast {addr}\"\nready = \"y\"\nevents = true\nstreams = true\ntitle = \"", "and not both"},
		},
		ramp: {
			{"prefork = true", "server_cpus = \"5-0\"", `settings.server_cpus: "5-0" is not a list of CPUs`},
			{"prefork = true", "clients = 0", `settings.clients: setting "clients"`},
		},
	} {
		parse(t, base)
		for _, row := range rows {
			_, err := Parse("made-up", []byte(with(t, base, row[0], row[1])))
			if err == nil || !strings.Contains(err.Error(), row[2]) {
				t.Errorf("%q for %q: %v, want %q", row[1], row[0], err, row[2])
			}
		}
	}
	for _, id := range []string{"", "Made-Up", "made up", "made--up", "made.up", "../up"} {
		if _, err := Parse(id, []byte(whole)); err == nil || !strings.Contains(err.Error(), "the file's name") {
			t.Errorf("%q: %v", id, err)
		}
	}
	parse(t, with(t, ramp, "prefork = true\n", "irqbalance = false\n")) // only a run finds out what a machine has
}
