package run

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/generator"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/topology"
)

// A place is a directory as a clone has it, with programs to make trials with.
type place struct {
	t     *testing.T
	root  string
	built string
}

// newPlace builds what a trial starts, and a server with faults.
func newPlace(t *testing.T) place {
	t.Helper()
	top, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(top, "node_modules", "autocannon")); err != nil {
		t.Fatal("autocannon is not installed: run make setup first")
	}
	p := place{t, t.TempDir(), t.TempDir()}
	for name, source := range map[string]string{"fiber_server": "../../server", "null_server": "../../null",
		"fortio_load": "../../load", "lab": "../../cmd/lab", "faulty/fiber_server": "./testdata/faulty"} {
		if out, err := exec.Command("go", "build", "-trimpath", "-o", filepath.Join(p.built, name), source).CombinedOutput(); err != nil {
			t.Fatalf("go build: %v\n%s", err, out)
		}
	}
	// The scripts find the programs from where they lie, so they are copied.
	if err := os.CopyFS(filepath.Join(p.root, "lab", "scripts"), os.DirFS(filepath.Join(top, "lab", "scripts"))); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(p.root, ".tools", "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(top, "node_modules"), filepath.Join(p.root, "node_modules")); err != nil {
		t.Fatal(err)
	}
	p.use("fiber_server")
	p.use("null_server")
	p.use("fortio_load")
	return p
}

// use puts a program where the scripts look for it.
func (p place) use(name string) {
	p.t.Helper()
	link := filepath.Join(p.root, ".tools", "bin", filepath.Base(name))
	_ = os.Remove(link)
	if err := os.Symlink(filepath.Join(p.built, name), link); err != nil {
		p.t.Fatal(err)
	}
}

// faulty puts the server with a fault in the place of the lab's.
func (p place) faulty(fault string) {
	p.t.Helper()
	p.use("faulty/fiber_server")
	if err := os.WriteFile(filepath.Join(p.built, "faulty", "fault"), []byte(fault), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

const answered = `entry = "1"
title = "t"
question = "q"
metrics = ["throughput_rps"]
[topology]
kind = "loopback"
[settings]
connections = 4
prefork = false
[[factors]]
name = "route"
levels = ["/read", "/simple"]
[sizes.smoke]
blocks = 1
warmup_s = 0.1
duration_s = 0.7
[sizes.full]
blocks = 12
duration_s = 10
[[claims]]
id = "c"
kind = "flat"
text = "t"
metric = "throughput_rps"
over = "route"
margin = 0.1
why = "w"
`

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// load is a trial's, as a run makes it.
func (p place) load(link *topology.Link, levels setting.Levels) load {
	p.t.Helper()
	x, err := experiment.Parse("x", []byte(answered))
	if err != nil {
		p.t.Fatal(err)
	}
	settings := x.Fixed().With(levels)
	if settings[setting.Server] == setting.String(setting.Null) {
		delete(settings, setting.Prefork) // it has no such option
	}
	plan := Plan{Root: journal.Root(p.root), Experiment: x, Size: "smoke", Port: freePort(p.t), Lab: []string{filepath.Join(p.built, "lab")}, Split: sides(p.t)}
	return plan.load(link, settings)
}

// sides divides the cores as the lab does.
func sides(t *testing.T) cores.Split {
	t.Helper()
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		t.Fatal(err)
	}
	var allowed []int
	for cpu := range len(set) * 64 {
		if set.IsSet(cpu) {
			allowed = append(allowed, cpu)
		}
	}
	groups, err := cores.Groups("/sys/devices/system/cpu", allowed)
	if err != nil {
		t.Fatal(err)
	}
	return cores.Divide(groups)
}

// trial makes one, and again where the machine was too busy to see it: that is
// told by a gate of its own.
func (p place) trial(link *topology.Link, levels setting.Levels) results.Trial {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	const patience = 4
	var t results.Trial
	for range patience {
		var err error
		if t, err = p.load(link, levels).trial(ctx); err != nil {
			p.t.Fatal(err)
		}
		if !closed(t, gate.NoTelemetry) || closed(t, gate.WrongAnswer, gate.Mismatches, gate.Resets, gate.Non2xx) {
			return t
		}
	}
	if !slices.ContainsFunc(t.Reasons, func(r results.Reason) bool {
		g, _ := gate.Of(r.Gate)
		return g.Kind == gate.Passing && r.Gate != gate.NoTelemetry
	}) {
		p.t.Fatalf("a trial cannot be seen on a machine that shows no other trouble: %q", t.Reasons)
	}
	p.t.Skipf("the machine is too disturbed to see a trial: %q", t.Reasons)
	return t
}

func closed(t results.Trial, names ...string) bool {
	return slices.ContainsFunc(t.Reasons, func(r results.Reason) bool { return slices.Contains(names, r.Gate) })
}

var loaders = []string{setting.Autocannon, setting.Fortio}

var loopback = &topology.Link{Host: "127.0.0.1"}

// Real trials, of servers that answer rightly and of such that do not.
func TestAnswers(t *testing.T) {
	p := newPlace(t)
	for _, c := range []struct {
		name string
		test func(t *testing.T, p place)
	}{{"right", rightAnswers}, {"not compared", notCompared}, {"wrong", wrongAnswers}, {"over a wire", overAWire}} {
		t.Run(c.name, func(t *testing.T) { p := p; p.t = t; c.test(t, p) })
	}
}

// A server that answers wrongly makes no trial that counts, whichever generator
// loads it, whether it does so from the first or only under load.
func wrongAnswers(t *testing.T, p place) {
	for _, c := range []struct {
		fault string
		route string
		gates []string // one of these
		says  string
	}{
		{"half", "/read", []string{gate.WrongAnswer}, "before the trial"},
		{"half", "/simple", []string{gate.WrongAnswer}, "answer 1 of 20 before the trial: 8 bytes of body, the route's have 16"},
		{"cut", "/read", []string{gate.WrongAnswer}, "before the trial"},
		{"107-bytes", "/read", []string{gate.WrongAnswer}, "107 bytes of body, the route's have "},
		{"107-bytes", "/simple", []string{gate.WrongAnswer}, "107 bytes of body, the route's have 16"},
		{"html", "/simple", []string{gate.WrongAnswer}, "text/html"},
		{"type", "/read", []string{gate.WrongAnswer}, "Content-Type"},
		{"a-byte", "/read", []string{gate.WrongAnswer}, "none of the route's 500"},
		{"a-byte", "/simple", []string{gate.WrongAnswer}, "differs from the route's at byte"},
		{"half 2", "/simple", []string{gate.WrongAnswer}, "answer 3 of 20 before the trial"},
		// Right before the trial, and wrong in the middle of it.
		{"half 500", "/read", []string{gate.WrongAnswer, gate.Mismatches}, ""},
		{"107-bytes 500", "/simple", []string{gate.WrongAnswer, gate.Mismatches}, ""},
		{"html 500", "/simple", []string{gate.WrongAnswer, gate.Mismatches}, ""},
		{"type 500", "/simple", []string{gate.WrongAnswer}, "Content-Type"},
		{"a-byte 500", "/read", []string{gate.WrongAnswer}, "none of the route's 500"},
		// Now and then.
		{"half 500 50", "/read", []string{gate.WrongAnswer, gate.Mismatches}, ""},
		{"107-bytes 500 500", "/simple", []string{gate.WrongAnswer, gate.Mismatches}, ""},
		{"cut 500 200", "/read", []string{gate.Resets, gate.Mismatches, gate.WrongAnswer, gate.Little, gate.Errors}, ""},
		{"cut 500 200", "/simple", []string{gate.Resets, gate.Mismatches, gate.WrongAnswer, gate.Little, gate.Errors}, ""},
	} {
		for _, generator := range loaders {
			t.Run(fmt.Sprintf("%s%s/%s", c.fault, c.route, generator), func(t *testing.T) {
				p := p
				p.t = t
				var trial results.Trial
				said := false
				// A machine that is busy with something else may get to few
				// wrong answers; such a trial does not count for that alone.
				for try := 0; try < 4 && !said && (try == 0 || weather(trial)); try++ {
					p.faulty(c.fault)
					trial = p.trial(loopback, setting.Levels{setting.Route: setting.String(c.route), setting.Generator: setting.String(generator)})
					said = slices.ContainsFunc(trial.Reasons, func(r results.Reason) bool {
						return slices.Contains(c.gates, r.Gate) && strings.Contains(r.Detail, c.says)
					})
					t.Logf("%v %q", trial.Valid, trial.Reasons)
				}
				if !said && weather(trial) {
					t.Skip("the machine is too disturbed to see the wrong answers")
				}
				if trial.Valid || !said {
					t.Errorf("valid %v, %q; want one of %v with %q", trial.Valid, trial.Reasons, c.gates, c.says)
				}
			})
		}
	}
}

// The lab's own servers are right on every route, with every stack, generator
// and depth of pipelining.
func rightAnswers(t *testing.T, p place) {
	text := setting.String
	type levels = setting.Levels
	var all []levels
	for _, route := range []string{"/simple", "/read", "/list", "/compute"} {
		for _, generator := range loaders {
			all = append(all, levels{setting.Route: text(route), setting.Generator: text(generator)})
		}
	}
	all = append(all,
		levels{setting.Route: text("/simple"), setting.Stack: text("fasthttp"), setting.Pipelining: setting.Int(4)},
		levels{setting.Route: text("/read"), setting.Stack: text("net-http"), setting.Pipelining: setting.Int(4)},
		levels{setting.Route: text("/simple"), setting.Server: text(setting.Null), setting.Pipelining: setting.Int(8)},
		levels{setting.Route: text("/read"), setting.Server: text(setting.Null), setting.Generator: text(setting.Fortio)},
		levels{setting.Route: text("/read"), setting.Prefork: setting.Bool(true), setting.Workers: setting.Int(2), setting.ClientWorkers: setting.Int(2)},
		levels{setting.Route: text("/simple"), setting.Generator: text(setting.Fortio), setting.Rate: setting.Int(200)},
		levels{setting.Route: text("/read"), setting.Generator: text(setting.Autocannon), setting.Rate: setting.Int(200)},
		levels{setting.Route: text("/read"), setting.Index: text("gofakeit"), setting.Generator: text(setting.Fortio)})
	for _, l := range all {
		t.Run(l.Key(), func(t *testing.T) {
			p := p
			p.t = t
			trial := p.trial(loopback, l)
			t.Logf("%v %q", trial.Valid, trial.Reasons)
			if closed(trial, gate.WrongAnswer, gate.Mismatches, gate.Resets, gate.Errors, gate.Non2xx) || trial.Metrics["requests"] == 0 {
				t.Errorf("%q", trial.Reasons)
			}
		})
	}
}

// Over a wire the comparison has to reach the server from the client's side.
func overAWire(t *testing.T, p place) {
	if exec.Command("unshare", "--user", "--map-root-user", "--net", "true").Run() != nil {
		t.Skip("this machine lets no user make namespaces")
	}
	p.use("fiber_server")
	wire, err := topology.Up(experiment.Topology{Kind: "netns", LineRateBps: 100e6, BurstBytes: 1 << 18, QueueS: 0.02}, p.root, scriptPath("wire.sh"), false)
	if err != nil {
		t.Fatal(err)
	}
	defer wire.Down()
	levels := setting.Levels{setting.Route: setting.String("/read")}
	right := p.trial(wire, levels)
	t.Logf("%q", right.Reasons)
	if closed(right, gate.WrongAnswer, gate.Resets, gate.Errors) || right.Metrics["requests"] == 0 {
		t.Errorf("right answers: %q", right.Reasons)
	}
	for fault, gates := range map[string][]string{"107-bytes": {gate.WrongAnswer}, "half 100": {gate.WrongAnswer}, "cut 100 200": {gate.Resets, gate.WrongAnswer}} {
		p.faulty(fault)
		if wrong := p.trial(wire, levels); wrong.Valid || !closed(wrong, gates...) && !weather(wrong) {
			t.Errorf("%s: %q", fault, wrong.Reasons)
		}
	}
}

// What could not be compared closes a gate.
func notCompared(t *testing.T, p place) {
	levels := setting.Levels{setting.Route: setting.String("/simple")}
	for name, lab := range map[string][]string{
		"no such program":     {filepath.Join(p.built, "nothing")},
		"one that says no":    {"sh", "-c", "echo no >&2; exit 3"},
		"one that ends early": {"sh", "-c", `echo '{"ready":true}'; read -r _`},
	} {
		l := p.load(loopback, levels)
		l.lab = lab
		if trial, err := l.trial(context.Background()); err == nil || trial.Valid {
			t.Errorf("%s: %v, %+v", name, err, trial)
		}
	}
	// It says that all was well before the trial, and nothing during it.
	l := p.load(loopback, levels)
	l.lab = []string{"sh", "-c", `echo '{"ready":true}'; read -r _; echo '{"head":106}'; cat`}
	trial, err := l.trial(context.Background())
	if err != nil || trial.Valid || !slices.ContainsFunc(trial.Reasons, func(r results.Reason) bool {
		return r.Gate == gate.NoTelemetry && strings.Contains(r.Detail, "no answer was compared")
	}) {
		t.Errorf("%v, %q", err, trial.Reasons)
	}
	// A route that the server has and the lab does not know.
	for _, generator := range loaders {
		trial := p.trial(loopback, setting.Levels{setting.Route: setting.String("/healthz"), setting.Generator: setting.String(generator)})
		if trial.Valid || !closed(trial, gate.WrongAnswer) {
			t.Errorf("%q", trial.Reasons)
		}
	}
	if trial := p.trial(loopback, setting.Levels{setting.Route: setting.String("/nothing")}); trial.Valid || !closed(trial, gate.Non2xx) {
		t.Errorf("%q", trial.Reasons)
	}
}

// A server that answers wrongly is not tried until it answers rightly.
func TestWrongAnswersAreNotRepeatedAway(t *testing.T) {
	for _, name := range []string{gate.WrongAnswer, gate.Mismatches} {
		if weather(results.Trial{Reasons: []results.Reason{{Gate: name}, {Gate: gate.Steal}}}) {
			t.Errorf("%s is repeated", name)
		}
	}
}

// Of the looks at the client's sockets those in the window count, and as few as
// one say nothing.
func TestConnectionsOpenedAnew(t *testing.T) {
	start := time.Unix(1000, 0)
	r := &generator.Result{Start: start, Finish: start.Add(time.Second)}
	at := func(ms int, inodes ...string) holding {
		h := holding{from: start.Add(time.Duration(ms) * time.Millisecond), inodes: map[string]bool{}}
		h.to = h.from.Add(time.Millisecond)
		for _, i := range inodes {
			h.inodes[i] = true
		}
		return h
	}
	for _, c := range []struct {
		name string
		all  []holding
		want string // the gate
	}{
		{"the same", []holding{at(200, "a", "b"), at(800, "b", "a")}, ""},
		{"one anew", []holding{at(200, "a", "b"), at(800, "b", "c")}, gate.Resets},
		{"one anew, in the middle", []holding{at(200, "a", "b"), at(500, "b", "c"), at(800, "c", "b")}, gate.Resets},
		{"those of the warm-up", []holding{at(-300, "x", "y"), at(10, "x", "a"), at(200, "a", "b"), at(800, "b", "a")}, ""},
		{"after the end", []holding{at(200, "a", "b"), at(800, "b", "a"), at(1100, "c")}, ""},
		{"still opening", []holding{at(100, "a"), at(200, "a", "b"), at(800, "b", "a")}, ""},
		{"never all of them", []holding{at(200, "a"), at(800, "a")}, gate.NoTelemetry},
		{"once", []holding{at(200, "a", "b")}, gate.NoTelemetry},
		{"never", nil, gate.NoTelemetry},
	} {
		got := ""
		(&socketWatch{connections: 2, all: c.all}).judge(r, func(name, _ string, _ ...any) { got += name })
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
