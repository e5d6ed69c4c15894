package archive

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// forger changes a contribution: a run, as a value or as text, or another file.
type forger struct {
	repository
	f    *results.File
	path string // of the run
	text func(string) string
}

func replace(old, new string) func(*forger) {
	return func(r *forger) {
		r.text = func(s string) string {
			if !strings.Contains(s, old) {
				r.t.Fatalf("%q does not stand in the run", old)
			}
			return strings.Replace(s, old, new, 1)
		}
	}
}

func metric(name string, v float64) func(*forger) {
	return func(r *forger) { r.f.Trials[0].Metrics[name] = v }
}

func calledInvalid(gate string) func(*forger) {
	return func(r *forger) {
		r.f.Trials[0].Valid, r.f.Trials[0].Reasons = false, []results.Reason{{Gate: gate, Detail: "x"}}
	}
}

// renumber numbers the trials that are left.
func (r *forger) renumber() {
	for i := range r.f.Trials {
		r.f.Trials[i].Seq = i + 1
	}
}

func (r *forger) without(drop func(results.Trial) bool) {
	var left []results.Trial
	for _, t := range r.f.Trials {
		if !drop(t) {
			left = append(left, t)
		}
	}
	r.f.Trials = left
	r.renumber()
}

func writes(path, text string) func(*forger) {
	return func(r *forger) { archivetest.Write(r.t, r.root.Path(path), text) }
}

func links(path, to string) func(*forger) {
	return func(r *forger) {
		r.add(r.f) // makes the directory
		if err := os.Symlink(to, r.root.Path(path)); err != nil {
			r.t.Fatal(err)
		}
	}
}

func long(path string, size int64) func(*forger) {
	return func(r *forger) {
		archivetest.Write(r.t, r.root.Path(path), "")
		if err := os.Truncate(r.root.Path(path), size); err != nil {
			r.t.Fatal(err)
		}
	}
}

func claim(old, new string) func(*forger) {
	return func(r *forger) { r.edit(archivetest.ThreadsDesign, old, new) }
}

// What a contribution may not hold is refused in one line, which names the file
// and the place. Files that were there before are compared by
// TestForgeriesAreRefusedInOneLine.
func TestABrokenContributionIsRefusedInOneLine(t *testing.T) {
	const run = "" // the path of the run
	const html = "<img src=x onerror=alert(1)>"
	for _, c := range []struct {
		name  string
		forge func(*forger)
		path  string
		says  string
	}{
		{"wrong unit: milliseconds", metric("latency_p50_s", 5), run, "/trials/0/metrics/"},
		{"wrong unit: per cent", metric("server_steal", 5), run, "/trials/0/metrics/server_steal: 5"},
		{"wrong unit, by its name", replace(`"latency_p50_s"`, `"latency_p50_ms"`), run,
			`/figures: no metric "latency_p50_ms"`},
		{"NaN", replace(`"latency_p50_s": [`, `"latency_p50_s": [NaN, `), run, ": invalid character 'N'"},
		{"a negative rate", metric("interrupts_per_s", -5), run, "/trials/0/metrics/interrupts_per_s: -5"},
		{"1e300", metric("server_steal", 1e300), run, "/trials/0/metrics/server_steal: 1e+300"},
		{"1e400", replace(`"latency_p50_s": [`, `"latency_p50_s": [1e400, `), run,
			"/figures/latency_p50_s/0: 1e400 is beyond any figure"},
		{"a share of 5", metric("server_workers_busy", 5), run, "/trials/0/metrics/server_workers_busy: 5"},
		{"percentiles out of order", func(r *forger) {
			m := r.f.Trials[0].Metrics
			m["latency_p90_s"], m["latency_p99_s"] = m["latency_p99_s"], m["latency_p90_s"]
		}, run, "/trials/0/metrics/latency_p"},
		{"a missing trial", func(r *forger) { r.f.Trials = r.f.Trials[:len(r.f.Trials)-1] }, run, "complete blocks of"},
		{"a missing trial, the others renumbered",
			func(r *forger) { r.without(func(t results.Trial) bool { return t.Seq == 2 }) }, run, "/trials: 7, but 2 complete blocks of 4 conditions have 8"},
		{"a first block left out", func(r *forger) {
			r.without(func(t results.Trial) bool { return t.Block == 1 })
			for i := range r.f.Trials {
				r.f.Trials[i].Block--
			}
			r.f.Provenance.Blocks--
		}, run, "/trials/"},
		{"a deleted control, with its trials", func(r *forger) {
			n := len(r.f.Conditions) - 1
			r.without(func(t results.Trial) bool { return t.Condition == r.f.Conditions[n].ID })
			r.f.Conditions = r.f.Conditions[:n]
		}, run, "/trials/"},
		{"a control that is another condition", func(r *forger) {
			twin := &r.f.Conditions[len(r.f.Conditions)-1]
			for _, other := range r.f.Conditions {
				if other.ID != twin.ControlOf {
					twin.ControlOf, twin.Levels = other.ID, other.Levels
					break
				}
			}
		}, run, "/conditions/3/control_of: "},
		{"an invalid trial called valid", metric("errors", 3), run, "/trials/0/metrics/errors: "},
		{"a disturbance that the figures do not show", calledInvalid(gate.Steal), run,
			`/trials/0/reasons/0: "steal", but the trial's own figures leave that gate open`},
		{"a slow core that the calibrations do not show", calledInvalid(gate.SlowCore), run,
			`/trials/0/reasons/0: "slow-core"`},
		{"other load that was not there", calledInvalid(gate.OtherLoad), run, `/trials/0/reasons/0: "other-load"`},
		{"errors that nobody counted", calledInvalid(gate.Errors), run, `/trials/0/reasons/0: "errors"`},
		{"a silence in which answers came", calledInvalid(gate.Silent), run, `/trials/0/reasons/0: "silent"`},
		{"a lost worker that is there", calledInvalid(gate.LostWorker), run, `/trials/0/reasons/0: "lost-worker"`},
		{"a client that failed and measured everything", calledInvalid(gate.ClientFailed), run,
			`/trials/0/reasons/0: "client-failed"`},
		{"a server that exited and answered everything", calledInvalid(gate.ServerExited), run,
			`/trials/0/reasons/0: "server-exited"`},
		{"a missing figure that is there", calledInvalid(gate.NoTelemetry), run, `/trials/0/reasons/0: "no-telemetry"`},
		{"a true reason and a made-up one", func(r *forger) {
			r.f.Trials[0].Metrics["clock_step_s"] = 0.2
			calledInvalid(gate.Clock)(r)
			r.f.Trials[0].Reasons = append(r.f.Trials[0].Reasons, results.Reason{Gate: gate.Swap, Detail: "x"})
		}, run, `/trials/0/reasons/1: "swap"`},
		{"no programs", func(r *forger) { r.f.Provenance.Binaries = nil }, run, `/provenance/binaries: "lab" is missing`},
		{"the server's program left out", func(r *forger) { delete(r.f.Provenance.Binaries, "fiber_server") }, run,
			`/provenance/binaries: "fiber_server" is missing, without which 11-threads cannot be measured`},
		{"the load generator's program left out", func(r *forger) { delete(r.f.Provenance.Binaries, "http_load") }, run,
			`/provenance/binaries: "http_load" is missing`},
		{"another program in place of all", func(r *forger) {
			r.f.Provenance.Binaries = map[string]host.Binary{"foo": {SHA256: strings.Repeat("12", 32)}}
		}, run, `/provenance/binaries: "lab" is missing`},
		{"a client's thread below its cores", metric("client_thread_busy_max", 0.1), run,
			"/trials/0/metrics/client_thread_busy_max: 0.1, but client_cores_busy"},
		{"workers below their cores", metric("server_workers_busy", 0.1), run,
			"/trials/0/metrics/server_workers_busy: 0.1, but server_cores_busy"},
		{"more connections than were asked for", metric("connections_established", 1e15), run,
			"/trials/0/metrics/connections_established: 1e+15"},
		{"a sampler that used a billion cores", metric("sampler_busy", 1e9), run, "/trials/0/metrics/sampler_busy: 1e+09"},
		{"a budget that the run did not keep", func(r *forger) { r.f.Provenance.BudgetS = 0.01 }, run,
			"/provenance/budget_s: 0.01, but the trials' slots alone took"},
		{"a gate nobody knows", func(r *forger) {
			r.f.Trials[0].Valid, r.f.Trials[0].Reasons = false, []results.Reason{{Gate: "bad-mood", Detail: "x"}}
		}, run, `/trials/0/reasons/0/gate: no gate "bad-mood"`},
		{"a duplicate key", replace(`"dirty": false`, `"dirty": false, "dirty": false`), run,
			`/provenance/dirty: key "dirty" stands twice`},
		{"an unknown host", func(r *forger) { r.f.Hosts.Client = "nobodys" }, run,
			"/hosts/client: no profile data/hosts/nobodys.json"},
		{"an unknown experiment", replace(`"experiment": "11-threads"`, `"experiment": "11-thread"`), run,
			`/experiment: no experiment "11-thread"; did you mean "11-threads"?`},

		{"a claim without a margin", claim("margin = 0.25\n", ""), archivetest.ThreadsDesign,
			`claims[0] "threads-flat": kind "flat" lacks margin`},
		{"a claim without why", claim("why = \"A thread", "# \""), archivetest.ThreadsDesign,
			`claims[0] "threads-flat": why is missing`},

		{"a command that is not the lab's", func(r *forger) { r.f.Conditions[0].Commands[0] = "curl example.org" }, run,
			"/conditions/0/commands/0: "},
		{"a command behind the lab's", func(r *forger) { r.f.Conditions[0].Commands[0] += "; curl example.org" }, run,
			"/conditions/0/commands/0: "},
		{"a command of a directory above", func(r *forger) { r.f.Conditions[0].Commands[0] = "lab/scripts/../x.sh" }, run,
			"/conditions/0/commands/0: "},
		{"a command of the wire's that is another",
			func(r *forger) { r.f.Provenance.Commands = []string{"sudo lab/scripts/wire.sh up"} }, run, "/provenance/commands/0: "},
		{"a load that the condition does not have",
			func(r *forger) { r.f.Conditions[0].Commands[1] = "lab/scripts/trial.sh --connections 7" }, run, "/conditions/0/commands/1: --connections 7, but the condition has 20"},
		{"another route", func(r *forger) {
			r.f.Conditions[0].Commands[1] = "lab/scripts/trial.sh --url http://127.0.0.1:8083/simple"
		}, run, "/conditions/0/commands/1: --url http://127.0.0.1:8083/simple: the condition requests /read"},
		{"a server that is not the lab's", func(r *forger) {
			r.f.Conditions[0].Commands[1] = "lab/scripts/trial.sh --url http://198.51.100.7/read"
		}, run, "/conditions/0/commands/1: --url http://198.51.100.7/read: not a server of the lab's"},
		{"no command for the client", func(r *forger) { r.f.Conditions[0].Commands = r.f.Conditions[0].Commands[:1] }, run,
			"/conditions/0/commands: a condition takes"},
		{"no commands", func(r *forger) { r.f.Conditions[0].Commands = nil }, run,
			"/conditions/0/commands: a condition takes"},

		// Free text is shown as it is: the step escape tests that. All other text has a form.
		{"HTML in a run's name", replace(`"run": "`, `"run": "`+html), run, "/run: "},
		{"HTML in an experiment's name", replace(`"experiment": "`, `"experiment": "`+html), run, "/experiment: "},
		{"HTML in a host's id", replace(`"server": "`, `"server": "`+html), run, "/hosts/server: "},
		{"HTML in a commit", replace(`"commit": "`, `"commit": "`+html), run, "/provenance/commit: "},
		{"HTML in a digest", replace(`"experiment_sha256": "`, `"experiment_sha256": "`+html), run,
			"/provenance/experiment_sha256: "},
		{"HTML in a command line", replace(`"lab/scripts/server.sh`, `"lab/scripts/server.sh `+html), run,
			"/conditions/0/commands/0: "},
		{"HTML in a condition's id", replace(`"id":"c1"`, `"id": "c1`+html+`"`), run, "/conditions/0/id: "},
		{"HTML in a setting", replace(`"route": "`, `"route": "`+html), run, "/settings/route: "},
		{"HTML in a name of a metric", replace(`"latency_p50_s"`, `"`+html+`"`), run, "/figures: no metric "},
		{"HTML in an end", replace(`"ended": "`, `"ended": "`+html), run, "/provenance/ended: "},
		{"HTML in a claim's id", claim(`id = "threads-flat"`, `id = "`+html+`"`), archivetest.ThreadsDesign, "id must be"},

		{"a path outside: a host", replace(`"server": "`, `"server": "../../`), run, "/hosts/server: "},
		{"a path outside: an experiment", replace(`"experiment": "`, `"experiment": "../../`), run, "/experiment: "},
		{"a path outside: a run", replace(`"run": "`, `"run": "../../`), run, "/run: "},
		{"a path outside: a design", replace(`"experiment_sha256": "`, `"experiment_sha256": "../../`), run,
			"/provenance/experiment_sha256: "},
		{"a path outside: a profile", func(r *forger) {
			r.f.Conditions[0].Profiles = []results.RawProfile{{Kind: "cpu", File: "../../x.pb.gz",
				SHA256: strings.Repeat("12", 32), Trials: 1}}
		}, run, "/conditions/0/profiles/0/file: "},
		{"a symlink among results", links("data/results/11-threads/x.json", "/etc/passwd"), "data/results/11-threads/x.json",
			"no regular file"},
		{"a symlink in place of a directory", links("data/results/12-new", "/etc"), "data/results/12-new", "no regular file"},
		{"a symlink among experiments", links("lab/experiments/12-new.toml", "/etc/passwd"), "lab/experiments/12-new.toml",
			"no regular file"},
		{"CRLF in a run", func(r *forger) { r.text = func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") } },
			run, "line 1: a carriage return"},
		{"CRLF in an experiment", claim("\n", "\r\n"), archivetest.ThreadsDesign, "line 1: a carriage return"},
		{"a host over its size", long("data/hosts/new.json", 16<<10+1), "data/hosts/new.json", "more than 16384 bytes"},
		{"a run over its size", long("data/results/11-threads/x.json", 8<<20+1), "data/results/11-threads/x.json",
			"more than 8388608 bytes"},
		{"an experiment over its size", long("lab/experiments/12-new.toml", 1<<40), "lab/experiments/12-new.toml",
			"more than 262144 bytes"},
		{"a text over its size", long("data/texts/12.toml", 256<<10+1), "data/texts/12.toml", "more than 262144 bytes"},
		{"a foreign file among results", writes("data/results/11-threads/run.json~", "x"),
			"data/results/11-threads/run.json~", "only .json files belong there"},
		{"a foreign file among experiments", writes("lab/experiments/x.txt", "x"), "lab/experiments/x.txt",
			"only experiments (.toml) belong there"},
		{"a directory among experiments", writes("lab/experiments/more/x.toml", "x"), "lab/experiments/more",
			"only experiments (.toml) belong there"},
		{"a foreign file among examples", writes("data/examples/x.html", "<p>"), "data/examples/x.html",
			"only .json files belong there"},
		{"an example that is no JSON", writes("data/examples/compare-x.json", "{"), "data/examples/compare-x.json",
			"line 1: the file ends"},
		{"an example of no time", writes("data/examples/compare-x.json", "{}"), "data/examples/compare-x.json",
			"neither started_at nor date says"},
		{"an example over its size", long("data/examples/compare-x.json", 1<<20), "data/examples/compare-x.json",
			"more than 16384 bytes"},
		{"a certificate of nothing", writes("data/certificates/x.json", `{"schema_version": 1}`), "data/certificates/x.json",
			"/claims, /outcome: it certifies nothing"},
		{"a foreign file among certificates", writes("data/certificates/x.toml", "x"), "data/certificates/x.toml",
			"only .json files belong there"},
		{"half of a character", replace(`"generator": "`, `"generator": "\ud800`), run, `line `},
		{"a count with a point", replace(`"schema_version": 3`, `"schema_version": 3.0`), run,
			"line 2: /schema_version takes a whole number, not a JSON number 3.0"},
		{"a foreign file among designs", writes("data/designs/notes.toml", "x"), "data/designs/notes.toml",
			"no run was made with it"},
		{"a foreign file among texts", writes("data/texts/notes.md", "x"), "data/texts/notes.md", "only texts belong there"},
		{"a foreign file among profiles", writes("data/profiles/11-threads/x.pb.gz", "x"), "data/profiles/11-threads/x.pb.gz",
			"no run names it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &forger{repository: newJournal(t)}
			r.f = r.run(2)
			r.path = r.root.Rel(r.root.Result(r.f.Experiment, r.f.Run))
			c.forge(r)
			r.add(r.f)
			if r.text != nil {
				archivetest.Write(t, r.root.Path(r.path), r.text(archivetest.Read(t, r.root.Path(r.path))))
			}
			var got []string
			_, faults, err := Open(r.root)
			for _, f := range faults {
				got = append(got, f.Path+": "+f.Err.Error())
			}
			if err != nil {
				got = append(got, strings.ReplaceAll(err.Error(), string(r.root)+"/", ""))
			}
			path := c.path
			if path == run {
				path = r.path
			}
			if len(got) != 1 || strings.Contains(got[0], "\n") || !strings.HasPrefix(got[0], filepath.FromSlash(path)+": ") ||
				!strings.Contains(got[0], c.says) {
				t.Errorf("got %q\nwant one line: %s: … %s", got, path, c.says)
			}
		})
	}
}
