package endtoend

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// The repository, from here.
const top = "../../.."

// A rig is a fleet with the lab on each host.
type rig struct {
	*Fleet
	t *testing.T
}

// design is the experiment that most tests run. It is of one block of about two seconds:
// one worker and two, which both answer a small page, and an A/A control.
var design = `entry = "99"
title = "A tiny experiment"
question = "Does the fleet hold?"
metrics = ["workers", "throughput_rps"]
budget_s = 3600
[topology]
kind = "fleet"
[settings]
route = "/simple"
prefork = true
index = "pool"
generator = "http_load"
connections = 12
pipelining = 1
client_workers = 0
[block]
slot_s = 0.3
rounds = 1
warmup_s = 0.1
` + archivetest.CountedWorkers

const experiment = "lab/experiments/99-tiny.toml"

// up makes a fleet with a checkout on each host, or skips the test. Of the experiment
// that its checkouts hold, the words in edits are replaced, in pairs.
func up(t *testing.T, edits []string, options ...string) *rig {
	t.Helper()
	return with(t, map[string]string{experiment: edited(t, design, edits)}, options...)
}

// with makes a fleet whose checkouts hold these files too.
func with(t *testing.T, files map[string]string, options ...string) *rig {
	t.Helper()
	root, err := filepath.Abs(top)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, ".tools/ansible/bin/ansible-inventory")); err != nil {
		t.Skip("Ansible is not installed: run make ansible")
	}
	f, err := Up(root, tempDir(t), options...)
	var none Unavailable
	if errors.As(err, &none) {
		t.Skip(none.Why)
	}
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{f, t}
	t.Cleanup(func() {
		if err := f.Down(); err != nil {
			t.Error(err)
		}
	})
	if err := f.Checkouts(root, files); err != nil {
		t.Fatal(err)
	}
	return r
}

// edited replaces words of an experiment by others, in pairs.
func edited(t *testing.T, text string, edits []string) string {
	t.Helper()
	for i := 0; i < len(edits); i += 2 {
		if !strings.Contains(text, edits[i]) {
			t.Fatalf("the experiment has no %q", edits[i])
		}
		text = strings.Replace(text, edits[i], edits[i+1], 1)
	}
	return text
}

// tempDir is a directory of a short name, which fits into the path of a socket and has no
// letter that fleet.sh refuses, as a test's name may.
func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "fleet-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// lab is a command of the lab on the controller, from its checkout.
func (r *rig) lab(args ...string) *exec.Cmd {
	cmd := r.On("controller", append([]string{".tools/bin/lab"}, args...)...)
	cmd.Dir = r.Root("controller")
	return cmd
}

// run is a run of the tiny experiment.
func (r *rig) run(more ...string) *exec.Cmd {
	return r.lab(append([]string{"run", "--topology", "fleet", "--inventory", r.Inventory(), "99-tiny"}, more...)...)
}

// A said is what a lab that has ended has printed, and its exit status.
type said struct {
	status   int
	out, err string
}

// A started is a lab that is under way.
type started struct {
	t         *testing.T
	cmd       *exec.Cmd
	ended     chan struct{}
	out, errs text
}

// A text is what a process prints, to be read while it does.
type text struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (t *text) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.Write(p)
}

func (t *text) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.String()
}

func start(t *testing.T, cmd *exec.Cmd) *started {
	t.Helper()
	s := &started{t: t, cmd: cmd, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &s.out, &s.errs
	// Processes that outlive the lab must not keep the test waiting for their output.
	cmd.WaitDelay = 2 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = cmd.Wait()
		close(s.ended)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-s.ended
	})
	return s
}

// over tells whether the lab has ended.
func (s *started) over() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// endsWithin bounds every run of these tests, most of which take seconds.
const endsWithin = 4 * time.Minute

func (s *started) wait() said {
	s.t.Helper()
	select {
	case <-s.ended:
	case <-time.After(endsWithin):
		_ = s.cmd.Process.Kill()
		<-s.ended
		s.t.Errorf("the lab had not ended after %v", endsWithin)
	}
	got := said{s.cmd.ProcessState.ExitCode(), s.out.String(), s.errs.String()}
	s.t.Logf("exit %d\n%s%s", got.status, got.err, got.out)
	return got
}

func finish(t *testing.T, cmd *exec.Cmd) said {
	t.Helper()
	return start(t, cmd).wait()
}

// complaint is the line with which the lab on the controller ends; there must be just
// one.
func (s said) complaint(t *testing.T) string {
	t.Helper()
	var found []string
	for line := range strings.Lines(s.err) {
		if strings.HasPrefix(line, "lab: ") {
			found = append(found, strings.TrimSpace(line))
		}
	}
	if len(found) != 1 {
		t.Fatalf("want one line of complaint, got %q", found)
	}
	return found[0]
}

// data are the files below data/ on a host, by their paths from its checkout.
func (r *rig) data(host string) []string {
	r.t.Helper()
	var out []string
	root := r.Seen(host, r.Root(host))
	err := filepath.WalkDir(filepath.Join(root, "data"), func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(root, p)
			out = append(out, rel)
		}
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

// results are the results files that a host holds.
func (r *rig) results(host string) []*results.File {
	r.t.Helper()
	var found []*results.File
	for _, name := range r.data(host) {
		if !strings.HasPrefix(name, "data/results/") || !strings.HasSuffix(name, ".json") {
			continue
		}
		f, err := results.Read(r.Seen(host, filepath.Join(r.Root(host), name)))
		if err != nil {
			r.t.Fatal(err)
		}
		found = append(found, f)
	}
	return found
}

// only is the one results file that the controller must hold.
func (r *rig) only() *results.File {
	r.t.Helper()
	found := r.results("controller")
	if len(found) != 1 {
		r.t.Fatalf("%d results files on the controller, want one", len(found))
	}
	return found[0]
}

// cleanWithin is how long a run that has ended, however it did, may take until nothing of
// it runs any more and no setting is changed.
const cleanWithin = 10 * time.Second

// clean asks that no process of a run is left on any host.
func (r *rig) clean() {
	r.t.Helper()
	left := func() []Process {
		return slices.DeleteFunc(r.Processes("server", "client1", "client2", "client3", "controller"),
			func(p Process) bool {
				// What fleet.sh started runs until the fleet is down. An sshd learns only after
				// minutes that a link is gone; what it had started has ended by then.
				return p.Program() == "sleep" || strings.HasPrefix(p.Args[0], "sshd") || len(p.Args) > 1 &&
					filepath.Base(p.Args[1]) == "fleet.sh"
			})
	}
	for end := time.Now().Add(cleanWithin); ; time.Sleep(50 * time.Millisecond) {
		found := left()
		if len(found) == 0 {
			return
		}
		if time.Now().After(end) {
			r.t.Fatalf("left behind after %v: %v", cleanWithin, found)
		}
	}
}

// eventually waits for a condition until a limit; it does not test speed.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	const within = time.Minute
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("not within %v: %s", within, what)
}

// until waits for a condition that comes true while the lab runs.
func (s *started) until(what string, ok func() bool) {
	s.t.Helper()
	eventually(s.t, what, func() bool { return ok() || s.over() })
	if !ok() {
		s.t.Fatalf("the lab ended before this came true: %s\n%s", what, s.errs.String())
	}
}

// loading waits until the generator carries out a plan on a client, and returns its
// process.
func (r *rig) loading(s *started, client string) (load Process) {
	r.t.Helper()
	s.until(client+" loads", func() bool {
		for _, p := range r.Running(client, "http_load") {
			// Before a run, each client is asked whether it could start one.
			if p.Program() == "http_load" && slices.Contains(p.Args, "--plan") && !slices.Contains(p.Args, "--check") {
				load = p
				return true
			}
		}
		return false
	})
	return load
}
