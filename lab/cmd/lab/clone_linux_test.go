package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/program/programtest"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/wire"
)

// These tests run the real lab, server, autocannon and wire in a temporary clone of the
// journal, and break them.
//
// Tests named TestAlone… need trials that are valid, or invalid for one reason that a
// busy neighbour could also cause. They run one by one, and tools/test.sh runs them when
// nothing else runs, since other tests alone can make a trial invalid. The other tests
// assert nothing that load could change; they run in parallel.

// bin has the programs that the tests run, by their names; a worker is called by the file's name, whatever link its
// master was started by.
var bin string

func labBinary() string { return filepath.Join(bin, "lab") }

func TestMain(m *testing.M) {
	for _, call := range []func([]string) (int, bool){wire.Called, measure.Answer} {
		if status, is := call(os.Args[1:]); is {
			os.Exit(status)
		}
	}
	os.Exit(func() int {
		var err error
		if bin, err = os.MkdirTemp("", "lab-test-"); err == nil {
			defer os.RemoveAll(bin)
			err = programs()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}())
}

// programs builds the programs. Builds go where an earlier call of the tests has left them, since
// Go links again only what has changed: tools/test.sh calls the tests twice, and the second time
// nothing else runs.
func programs() error {
	into, err := filepath.Abs("../../../.tools/scratch/programs")
	if err == nil {
		err = os.MkdirAll(into, 0o755)
	}
	for _, packages := range [][]string{
		{"../..", "./cmd/lab", "./cmd/http_load", "./server"},
		{"../../batch/study", "./producer", "./sink"},
	} {
		build := exec.Command("go", append([]string{"build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", into + "/"},
			packages[1:]...)...)
		build.Dir = packages[0]
		if out, wrong := build.CombinedOutput(); wrong != nil {
			err = errors.Join(err, fmt.Errorf("go build: %w\n%s", wrong, out))
		}
	}
	for from, to := range map[string]string{"lab": "lab", "server": "fiber_server", "http_load": "http_load",
		"producer": "event_producer", "sink": "event_sink"} {
		text, wrong := os.ReadFile(filepath.Join(into, from))
		err = errors.Join(err, wrong, os.WriteFile(filepath.Join(bin, to), text, 0o755))
	}
	return err
}

// A clone is a small journal with one experiment.
type clone struct {
	t    *testing.T
	root string
	port int
	env  []string
}

var tiny = `entry = "99"
title = "A tiny experiment"
question = "Does the whole way hold?"
metrics = ["workers", "throughput_rps"]
budget_s = 3600
[topology]
%s
[settings]
route = "/read"
connections = 4
pipelining = 1
[block]
slot_s = %d
rounds = 1
warmup_s = 0.1
` + archivetest.CountedWorkers

const (
	loopback = `kind = "loopback"`
	netns    = "kind = \"netns\"\nline_rate_bps = 100_000_000\nburst_bytes = 262_144\nqueue_s = 0.02"
)

func newClone(t *testing.T, topology string, seconds int) *clone {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir()) // the name that the kernel reports
	if err != nil {
		t.Fatal(err)
	}
	c := &clone{t: t, root: dir, port: programtest.FreePorts(t, 8)}
	top, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(top, "node_modules", "autocannon")); err != nil {
		t.Fatal("autocannon is not installed: run make setup first")
	}
	// The scripts find the repository from their own location, so they are copied.
	if err := errors.Join(os.CopyFS(filepath.Join(c.root, "lab", "scripts"), os.DirFS(filepath.Join(top, "lab", "scripts"))),
		os.MkdirAll(filepath.Join(c.root, "data/results"), 0o755)); err != nil {
		t.Fatal(err)
	}
	c.link(filepath.Join(top, "node_modules"), "node_modules")
	c.link(filepath.Join(top, "package-lock.json"), "package-lock.json")
	c.program("fiber_server")
	c.program("http_load")
	c.write("lab/experiments/99-tiny.toml", fmt.Sprintf(tiny, topology, seconds))
	if topology != loopback { // only http_load reads a wire's shapers
		c.edit("pipelining = 1", "pipelining = 1\ngenerator = \"http_load\"")
	}
	t.Cleanup(func() {
		for _, p := range c.processes() {
			t.Errorf("left behind: %s", p)
		}
	})
	return c
}

func (c *clone) link(old, name string) {
	c.t.Helper()
	path := filepath.Join(c.root, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.Symlink(old, path)); err != nil {
		c.t.Fatal(err)
	}
}

// program puts one where the scripts look for it.
func (c *clone) program(name string) {
	c.t.Helper()
	c.link(filepath.Join(bin, name), ".tools/bin/"+name)
}

func (c *clone) write(name, text string) {
	c.t.Helper()
	archivetest.Write(c.t, filepath.Join(c.root, name), text)
}

// edit changes the experiment.
func (c *clone) edit(old, new string) {
	c.t.Helper()
	archivetest.Edit(c.t, filepath.Join(c.root, "lab/experiments/99-tiny.toml"), old, new)
}

func (c *clone) command(args ...string) *exec.Cmd {
	cmd := exec.Command(labBinary(), args...)
	cmd.Dir = c.root
	cmd.Env = append(os.Environ(), c.env...)
	return cmd
}

// A said is what a lab that has finished has printed, and its exit status.
type said struct {
	status   int
	out, err string
}

func finish(t *testing.T, cmd *exec.Cmd) said {
	t.Helper()
	return begin(t, cmd)()
}

// begin starts a call; end waits until it has ended.
func begin(t *testing.T, cmd *exec.Cmd) (end func() said) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	return func() said {
		t.Helper()
		_ = cmd.Wait()
		s := said{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
		t.Logf("exit %d\n%s%s", s.status, s.err, s.out)
		return s
	}
}

// run99 is the command that makes a run of the experiment, of one block.
func (c *clone) run99() *exec.Cmd {
	return c.command("run", "99-tiny", "--port", strconv.Itoa(c.port), "--blocks", "1")
}

func (c *clone) run() said {
	c.t.Helper()
	return finish(c.t, c.run99())
}

// complaint is the line that the lab ends with; there must be just one.
func (s said) complaint(t *testing.T) string {
	t.Helper()
	var found []string
	for _, l := range strings.Split(s.err, "\n") {
		if strings.HasPrefix(l, "lab: ") {
			found = append(found, l)
		}
	}
	if len(found) != 1 {
		t.Fatalf("want one line of complaint, got %q", found)
	}
	return found[0]
}

func (c *clone) files() []string {
	c.t.Helper()
	var out []string
	err := filepath.WalkDir(filepath.Join(c.root, "data"), func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(c.root, p)
			out = append(out, rel)
		}
		return err
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return out
}

// only reads the results file; there must be just one.
func (c *clone) only() *results.File {
	c.t.Helper()
	var found []string
	for _, f := range c.files() {
		if strings.HasPrefix(f, "data/results/") {
			found = append(found, f)
		}
	}
	if len(found) != 1 {
		c.t.Fatalf("want one results file, got %v", found)
	}
	f, err := results.Read(filepath.Join(c.root, found[0]))
	if err != nil {
		c.t.Fatal(err)
	}
	return f
}

// processes lists the processes whose working directory is in the clone: the lab and all
// that it starts.
func (c *clone) processes() []string {
	var out []string
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		if at, err := os.Readlink(d + "/cwd"); err != nil || at != c.root {
			continue
		}
		line, _ := os.ReadFile(d + "/cmdline")
		if len(line) > 0 { // a zombie has none
			out = append(out, filepath.Base(d)+" "+string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
		}
	}
	return out
}

// until waits for a condition; it does not test speed. Many conditions look at every process of the machine,
// which costs milliseconds.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !done(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}
