package run

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/machine"
	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/internal/program/programtest"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/wire"
)

func TestMain(m *testing.M) {
	// tools/test.sh has it say that with the race detector no process waits a second at its end.
	proc.Passed = append(proc.Passed, "GORACE")
	for _, call := range []func([]string) (int, bool){wire.Called, measure.Answer} {
		if status, is := call(os.Args[1:]); is {
			os.Exit(status)
		}
	}
	if os.Getenv(foreign) != "" { // a server of any program
		_ = http.ListenAndServe(os.Args[1], http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "Hello, world.") }))
		os.Exit(1)
	}
	code := m.Run()
	if builtAny {
		dir, _ := programsOnce()
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// foreign is the variable that makes this program a server.
const foreign = "LR_FOREIGN"

var builtAny bool

// programsOnce builds the programs of trials, and a server with faults, once for all tests.
var programsOnce = sync.OnceValues(func() (string, error) {
	builtAny = true
	dir, err := os.MkdirTemp("", "programs")
	for _, packages := range [][]string{
		{"../..", "./cmd/http_load", "./cmd/lab", "./internal/run/testdata/faulty", "./server"},
		{"../../servers/floor", "."},
	} {
		build := exec.Command("go", append([]string{"build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", dir + "/"},
			packages[1:]...)...)
		build.Dir = packages[0]
		if out, wrong := build.CombinedOutput(); wrong != nil {
			err = errors.Join(err, fmt.Errorf("go build: %w\n%s", wrong, out))
		}
	}
	return dir, err
})

// A place is a directory laid out like a clone, with programs to measure with.
type place struct {
	t     *testing.T
	root  string
	built string
}

func newPlace(t *testing.T) place {
	t.Helper()
	if testing.Short() {
		t.Skip("trials of real servers take some seconds")
	}
	top, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(top, "node_modules", "autocannon")); err != nil {
		t.Fatal("autocannon is not installed: run make setup first")
	}
	root, err := filepath.EvalSymlinks(t.TempDir()) // the name that the kernel reports
	if err != nil {
		t.Fatal(err)
	}
	p := place{t: t, root: root}
	if p.built, err = programsOnce(); err != nil {
		t.Fatal(err)
	}
	// The scripts find the programs relative to themselves, so they are copied.
	err = errors.Join(os.CopyFS(filepath.Join(p.root, "lab", "scripts"), os.DirFS(filepath.Join(top, "lab", "scripts"))),
		os.MkdirAll(filepath.Join(p.root, ".tools", "bin"), 0o755))
	for _, name := range []string{"node_modules", "package-lock.json"} {
		err = errors.Join(err, os.Symlink(filepath.Join(top, name), filepath.Join(p.root, name)))
	}
	if err != nil {
		t.Fatal(err)
	}
	p.use("server", "fiber_server")
	p.use("floor", "null_server")
	p.use("http_load", "http_load")
	return p
}

// use puts a program where the scripts look for it.
func (p place) use(program, as string) {
	p.t.Helper()
	at := filepath.Join(p.root, ".tools", "bin", as)
	_ = os.Remove(at)
	if err := os.Link(filepath.Join(p.built, program), at); err != nil {
		p.t.Fatal(err)
	}
}

// faulty replaces the lab's server with the faulty one.
func (p place) faulty(fault string) {
	p.t.Helper()
	p.use("faulty", "fiber_server")
	if err := os.WriteFile(filepath.Join(p.root, ".tools", "bin", "fault"), []byte(fault), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// plan is the plan of a run here.
func (p place) plan(x *experiment.Experiment) Plan {
	p.t.Helper()
	split, err := machine.Here()
	if err != nil {
		p.t.Fatal(err)
	}
	return Plan{Root: journal.Root(p.root), Port: programtest.FreePorts(p.t, 30), Budget: 10 * time.Minute,
		Lab: []string{filepath.Join(p.built, "lab")}, Split: split, Host: &host.Profile{ID: "here", Cores: 1 << 10}}.Of(x)
}

// start begins a run with the given conditions, or the experiment's.
func (p place) start(x *experiment.Experiment, conditions ...setting.Levels) *Run {
	p.t.Helper()
	r, err := Start(p.plan(x))
	if err != nil {
		p.t.Fatal(err)
	}
	if len(conditions) > 0 {
		r.File.Conditions = nil
		for i, levels := range conditions {
			r.File.Conditions = append(r.File.Conditions, results.Condition{ID: fmt.Sprintf("c%d", i+1), Levels: levels})
		}
		r.groups = r.File.Groups()
	}
	return r
}

// block measures a block.
func (p place) block(r *Run) []results.Trial {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 2*time.Minute)
	defer cancel()
	trials, err := r.Block(ctx)
	if err != nil {
		p.t.Fatal(err)
	}
	return trials
}

// until makes blocks until one is as expected, twice at most. If the
// trials show that the machine was disturbed, the test is skipped instead.
func (p place) until(make func() []results.Trial, shows func([]results.Trial) bool) {
	p.t.Helper()
	const patience = 2
	for try := 1; ; try++ {
		trials := make()
		if shows(trials) {
			return
		}
		for _, one := range trials {
			p.t.Logf("try %d: %s: valid %v, %q", try, one.Condition, one.Valid, one.Reasons)
		}
		if busy := slices.ContainsFunc(trials, disturbed); try == patience && busy {
			p.t.Skip("this machine is too disturbed to show it")
		} else if try == patience || !busy && try > 1 {
			p.t.Fatal("it does not show")
		}
	}
}

// disturbed reports whether a trial was invalid because of the machine.
func disturbed(t results.Trial) bool {
	return closed(t, gate.HeldBack, gate.NoTelemetry)
}

func closed(t results.Trial, names ...string) bool {
	return slices.ContainsFunc(t.Reasons, func(r results.Reason) bool { return slices.Contains(names, r.Gate) })
}

// children lists the descendants with a command name that run in this place, parents first. Those of other
// places are of tests beside this one.
func (p place) children(name string) (pids []int) {
	for _, pid := range proc.Descendants(os.Getpid()) {
		if at, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid)); err == nil && strings.HasPrefix(at+"/", p.root+"/") &&
			proc.Command(pid) == name {
			pids = append(pids, pid)
		}
	}
	return pids
}

// listening lists the processes that have to listen on a port.
func (p place) listening(name string, port int) (pids []int) {
	for _, pid := range p.children(name) {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if strings.Contains(string(line), fmt.Sprintf(":%d\x00", port)) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// nothingRuns fails if a run left a process behind.
func (p place) nothingRuns(t *testing.T) {
	t.Helper()
	for _, name := range []string{"fiber_server", "null_server", "http_load", "node", "lab"} {
		if left := p.children(name); len(left) > 0 {
			t.Errorf("%s runs on: %v", name, left)
		}
	}
}
