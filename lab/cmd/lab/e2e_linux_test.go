package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/telemetry"
)

// These tests run the real lab, server, autocannon and wire in a clone of the
// journal's shape under a temporary directory, and break them.
//
// Those whose trials are to be valid, or invalid for one reason that the load of
// a neighbour could bring about as well, come one by one. The others go parallel
// to each other, after them: beside others a trial may be invalid for that
// alone.

var labBinary, serverBinary, loadBinary, producerBinary, sinkBinary string

func TestMain(m *testing.M) {
	if root := os.Getenv(victimRoot); root != "" {
		victim(root)
	}
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "lab-test-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		if out, err := exec.Command("go", "build", "-trimpath", "-o", dir, ".", "../../server", "../../load", "../../producer", "../../sink").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
			return 1
		}
		labBinary = filepath.Join(dir, "lab")
		// A worker is called after the file, whatever link its master was started by.
		for _, program := range []struct {
			path        *string
			built, name string
		}{
			{&serverBinary, "server", "fiber_server"}, {&loadBinary, "load", "http_load"},
			{&producerBinary, "producer", "event_producer"}, {&sinkBinary, "sink", "event_sink"},
		} {
			*program.path = filepath.Join(dir, program.name)
			if err := os.Rename(filepath.Join(dir, program.built), *program.path); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
		}
		return m.Run()
	}())
}

// A clone is a small journal with one experiment.
type clone struct {
	t    *testing.T
	root string
	port int
	env  []string
	// blocks are the most that a run makes.
	blocks int
}

const tiny = `entry = "99"
title = "A tiny experiment"
question = "Does the whole way hold?"
metrics = ["workers", "throughput_rps"]
budget_s = 600
[topology]
%s
[settings]
route = "%s"
connections = 4
pipelining = 1
[[factors]]
name = "workers"
levels = [1, 2]
[block]
slot_s = %d
rounds = 1
warmup_s = 0.1
[[claims]]
id = "count"
kind = "count"
text = "Workers are counted."
metric = "workers"
equals = "workers"
`

const (
	loopback = `kind = "loopback"`
	wire     = "kind = \"netns\"\nline_rate_bps = 100_000_000\nburst_bytes = 262_144\nqueue_s = 0.02"
	thin     = "kind = \"netns\"\nline_rate_bps = 10_000_000\nburst_bytes = 16_384\nqueue_s = 0.05"
)

func newClone(t *testing.T, topology, route string, blocks, seconds int) *clone {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir()) // as the kernel names it
	if err != nil {
		t.Fatal(err)
	}
	c := &clone{t: t, root: dir, port: freePort(t), blocks: blocks}
	top, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(top, "node_modules", "autocannon")); err != nil {
		t.Fatal("autocannon is not installed: run make setup first")
	}
	// The scripts find the repository from where they lie, so they are copied.
	if err := os.CopyFS(filepath.Join(c.root, "lab", "scripts"), os.DirFS(filepath.Join(top, "lab", "scripts"))); err != nil {
		t.Fatal(err)
	}
	c.link(filepath.Join(top, "node_modules"), "node_modules")
	c.link(serverBinary, ".tools/bin/fiber_server")
	c.link(loadBinary, ".tools/bin/http_load")
	for _, dir := range []string{"data/results", "data/hosts", "data/verdicts"} {
		if err := os.MkdirAll(filepath.Join(c.root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c.write("lab/experiments/99-tiny.toml", fmt.Sprintf(tiny, topology, route, seconds))
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
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		c.t.Fatal(err)
	}
	if err := os.Symlink(old, path); err != nil {
		c.t.Fatal(err)
	}
}

func (c *clone) write(name, text string) {
	c.t.Helper()
	path := filepath.Join(c.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		c.t.Fatal(err)
	}
}

// edit changes the experiment.
func (c *clone) edit(old, new string) {
	c.t.Helper()
	const name = "lab/experiments/99-tiny.toml"
	text, err := os.ReadFile(filepath.Join(c.root, name))
	if err != nil || !bytes.Contains(text, []byte(old)) {
		c.t.Fatalf("%v; no %q in %s", err, old, name)
	}
	c.write(name, strings.Replace(string(text), old, new, 1))
}

func (c *clone) command(args ...string) *exec.Cmd {
	cmd := exec.Command(labBinary, args...)
	cmd.Dir = c.root
	cmd.Env = append(os.Environ(), c.env...)
	return cmd
}

// A said is what a finished lab said.
type said struct {
	status   int
	out, err string
}

func finish(t *testing.T, cmd *exec.Cmd) said {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return wait(t, cmd, &out, &errs)
}

func wait(t *testing.T, cmd *exec.Cmd, out, errs *bytes.Buffer) said {
	t.Helper()
	_ = cmd.Wait()
	s := said{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
	t.Logf("exit %d\n%s%s", s.status, s.err, s.out)
	return s
}

// run99 is the command that makes a run of the experiment.
func (c *clone) run99() *exec.Cmd {
	return c.command("run", "99-tiny", "--port", strconv.Itoa(c.port), "--blocks", strconv.Itoa(c.blocks))
}

func (c *clone) run() said {
	c.t.Helper()
	return finish(c.t, c.run99())
}

// complaint is the one line that the lab ends with; there must be just one.
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

// only reads the one results file there must be.
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

// processes lists what runs in the clone's directory, as the lab and all that it
// starts do.
func (c *clone) processes() []string {
	var out []string
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		if at, err := os.Readlink(d + "/cwd"); err != nil || at != c.root {
			continue
		}
		line, _ := os.ReadFile(d + "/cmdline")
		if len(line) > 0 { // a zombie has none, and no memory either
			out = append(out, filepath.Base(d)+" "+string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
		}
	}
	return out
}

// freePort finds one with free ones above it, since the servers of a block are on
// neighbouring ports.
func freePort(t *testing.T) int {
	t.Helper()
	const needed = 8
	for range 100 {
		// Below those that the kernel gives to clients.
		first := 10000 + rand.IntN(20000)
		free := 0
		for ; free < needed; free++ {
			l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", first+free))
			if err != nil {
				break
			}
			l.Close()
		}
		if free == needed {
			return first
		}
	}
	t.Fatalf("no %d free ports in a row", needed)
	return 0
}

// eventually waits for what must come within a limit that the issue at hand
// sets, not for speed.
func eventually(t *testing.T, within time.Duration, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("not within %v: %s", within, what)
}

func noWire(t *testing.T) bool {
	t.Helper()
	return exec.Command("unshare", "--user", "--map-root-user", "--net", "true").Run() != nil
}

func TestWholeWay(t *testing.T) {
	for name, topology := range map[string]string{"loopback": loopback, "wire": thin} {
		t.Run(name, func(t *testing.T) {
			if topology == thin && noWire(t) {
				t.Skip("this machine lets no user make namespaces")
			}
			// Two blocks are enough to see the whole way, and too few to decide;
			// over the wire there is nothing more to see in a second.
			blocks := map[string]int{loopback: 2, thin: 1}[topology]
			c, s := undisturbed(t, func() *clone { return newClone(t, topology, "/read", blocks, 1) })
			const want = exitNotHeld
			verdict := "99-tiny/count  inconclusive  " + map[int]string{1: "1 block is too few", 2: "2 blocks are too few"}[blocks]
			if s.status != want {
				t.Fatalf("exit %d, want %d", s.status, want)
			}
			f := c.only()
			controls := 0
			for _, cond := range f.Conditions {
				if cond.ControlOf != "" {
					controls++
				}
			}
			if controls != 1 {
				t.Errorf("%d A/A controls, want one", controls)
			}
			if len(f.Trials) < 3*blocks || f.Provenance.Seed == 0 || len(f.Conditions) != 3 {
				t.Errorf("%d trials, seed %d, %d conditions", len(f.Trials), f.Provenance.Seed, len(f.Conditions))
			}
			for _, want := range []string{verdict, "results: data/results/99-tiny/" + f.Run + ".json"} {
				if !strings.Contains(s.out, want) {
					t.Errorf("standard output lacks %q", want)
				}
			}
			for _, m := range []string{"throughput_rps", "workers", "threads_per_worker", "server_cpu_per_request_s", "server_cores_busy", "client_thread_busy_max",
				"connections_established", "server_foreign_load", "sampler_busy", "calibration_before_s", "calibration_after_s", "asked_in_flight"} {
				if _, ok := f.Trials[len(f.Trials)-1].Metrics[m]; !ok {
					t.Errorf("the last trial lacks %s", m)
				}
			}
			if _, ok := f.Trials[0].Metrics["line_rate_share"]; ok != (topology == thin) {
				t.Errorf("a share of the line rate: %v", ok)
			}
			// It carries far less than a closed loop would take.
			for _, trial := range f.Trials {
				if topology == thin && trial.Valid && trial.Bound != "wire" {
					t.Errorf("trial %d is bounded by %s: %s", trial.Seq, trial.Bound, trial.BoundWhy)
				}
			}
			if got := finish(t, c.command("check")); got.status != exitHeld {
				t.Errorf("lab check exits %d after a run", got.status)
			}
			// What is recorded must not say whose machine it was.
			text, err := os.ReadFile(filepath.Join(c.root, "data/results/99-tiny", f.Run+".json"))
			if err != nil {
				t.Fatal(err)
			}
			hostname, _ := os.Hostname()
			for _, private := range []string{c.root, os.Getenv("HOME") + "/"} {
				if private != "/" && bytes.Contains(text, []byte(private)) {
					t.Errorf("the results file holds %q", private)
				}
			}
			if len(hostname) > 3 && bytes.Contains(text, []byte(hostname)) {
				t.Errorf("the results file holds the hostname")
			}
		})
	}
}

// undisturbed runs a clone's experiment, and again if the machine's weather
// made trials invalid: other tests of this project, or a neighbour, may be at
// work beside this one. Where it does not clear up the test cannot tell.
func undisturbed(t *testing.T, make func() *clone) (*clone, said) {
	t.Helper()
	const patience = 2
	for i := 1; ; i++ {
		c := make()
		s := c.run()
		if s.status == exitFailed {
			return c, s
		}
		if f := c.only(); f.Complete() || !weather(f) {
			return c, s
		}
		if i == patience {
			t.Skipf("the machine is too disturbed to measure on: %d runs had trials that only its weather made invalid", patience)
		}
	}
}

// weather tells whether every invalid trial of a run is invalid because of the
// machine: by gates that may be its passing weather, and what follows from them.
func weather(f *results.File) bool {
	for _, trial := range f.Trials {
		passing := trial.Valid
		for _, r := range trial.Reasons {
			g, ok := gate.Of(r.Gate)
			if !ok || g.Kind == gate.Fault {
				return false
			}
			passing = passing || g.Kind == gate.Passing
		}
		if !passing {
			return false
		}
	}
	return true
}

// underWay starts a run and waits until its first trial is loaded.
func (c *clone) underWay() (*exec.Cmd, *bytes.Buffer, *bytes.Buffer) {
	c.t.Helper()
	cmd := c.run99()
	out, errs := new(bytes.Buffer), new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = out, errs
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	c.loaded(0)
	return cmd, out, errs
}

// loaded waits for a trial that is under way, with another client than that
// one, and returns its client.
func (c *clone) loaded(last int) (client int) {
	c.t.Helper()
	// Well into the measured part: starting and the short warm-up take the
	// client less CPU time than this.
	eventually(c.t, 60*time.Second, "a loaded trial", func() bool {
		client = c.pid("autocannon")
		return client != last && c.pid("fiber_server") > 0 && ticks(client) > 70
	})
	return client
}

// stat gives the fields of a process's line behind its name, which is the
// second; none if it has ended.
func stat(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	return strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
}

// ticks is the CPU time of a process, in hundredths of a second.
func ticks(pid int) int {
	f := stat(pid)
	if f == nil {
		return 0
	}
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	return user + system
}

// pid finds a running process of the clone by its command line; wrappers that
// only carry the program's name as an argument do not count.
func (c *clone) pid(program string) int {
	for _, p := range c.processes() {
		f := strings.Fields(p)
		prog := filepath.Base(f[1])
		if prog == program || prog == "node" && len(f) > 2 && strings.Contains(f[2], program) {
			pid, _ := strconv.Atoi(f[0])
			return pid
		}
	}
	return 0
}

func TestNothingIsLeftBehind(t *testing.T) {
	for name, topology := range map[string]string{"loopback": loopback, "wire": wire} {
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL} {
			t.Run(name+"/"+sig.String(), func(t *testing.T) {
				t.Parallel()
				if topology == wire && noWire(t) {
					t.Skip("this machine lets no user make namespaces")
				}
				c := newClone(t, topology, "/read", 1, 60)
				cmd, out, errs := c.underWay()
				if err := cmd.Process.Signal(sig); err != nil {
					t.Fatal(err)
				}
				s := wait(t, cmd, out, errs)
				if s.status == exitHeld {
					t.Error("exit 0 after a signal")
				}
				if sig != syscall.SIGKILL && !strings.Contains(s.complaint(t), "interrupted") {
					t.Errorf("complaint: %s", s.err)
				}
				eventually(t, 5*time.Second, "all processes gone", func() bool { return len(c.processes()) == 0 })
				if files := c.files(); len(files) > 0 {
					t.Errorf("files in data/: %v", files)
				}
			})
		}
	}
}

// Four trials of one run: the server is killed, then one of its workers, then
// the client is held for a while, and at last killed. Their length is no matter
// but to the third. None is made again.
func TestWhatDiesOrIsStoppedInMidTrial(t *testing.T) {
	c := newClone(t, loopback, "/read", 2, 8) // long enough for a client that has a part of a core
	send := func(pid int, sig syscall.Signal) {
		t.Helper()
		if err := syscall.Kill(pid, sig); err != nil {
			t.Fatal(err)
		}
	}
	cmd, out, errs := c.underWay()
	client := c.pid("autocannon")
	send(c.master(), syscall.SIGKILL)

	client = c.loaded(client)
	all := telemetry.Descendants(c.master())
	if len(all) < 2 {
		t.Fatal("no worker found")
	}
	send(all[len(all)-1], syscall.SIGKILL)

	client = c.loaded(client)
	send(client, syscall.SIGSTOP)
	time.Sleep(1500 * time.Millisecond)
	send(client, syscall.SIGCONT)

	send(c.loaded(client), syscall.SIGKILL)

	s := wait(t, cmd, out, errs)
	if s.status != exitNotHeld {
		t.Errorf("exit %d, want %d", s.status, exitNotHeld)
	}
	f := c.only()
	if len(f.Trials) != 6 {
		t.Errorf("%d trials, want two blocks of three", len(f.Trials))
	}
	for i, want := range []string{"server-exited", "lost-worker", "stopped", "client-failed"} {
		one := *f
		one.Trials = f.Trials[min(i, len(f.Trials)):min(i+1, len(f.Trials))]
		expectAllInvalid(t, &one, want)
	}
	if !strings.Contains(s.err, "invalid: server-exited: the server exited in mid-trial") {
		t.Error("the log does not say so")
	}
}

// stranger starts a busy loop on a core, by somebody whom the lab did not start.
func stranger(t *testing.T, cpu int) {
	t.Helper()
	loop := exec.Command("timeout", "60", "taskset", "--cpu-list", strconv.Itoa(cpu), "sh", "-c", "while :; do :; done")
	loop.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := loop.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-loop.Process.Pid, syscall.SIGKILL)
		_ = loop.Wait()
	})
}

func TestBusyLoopOnTheServersCore(t *testing.T) {
	split, err := divide()
	if err != nil || len(split.Server) == 0 {
		t.Skip("one core: server and client share it with everybody")
	}
	c := newClone(t, loopback, "/read", 1, 1)
	stranger(t, split.Server[0])
	if s := c.run(); s.status != exitInvalid {
		t.Errorf("exit %d, want %d", s.status, exitInvalid)
	}
	expectAllInvalid(t, c.only(), "other-load")
}

// Server and client that share a core are watched on it, each by all figures.
func TestBusyLoopOnACoreThatIsShared(t *testing.T) {
	allowed, err := allowedCPUs()
	if err != nil {
		t.Fatal(err)
	}
	c := newClone(t, loopback, "/read", 1, 1)
	stranger(t, allowed[0])
	cmd := c.run99()
	pinned := exec.Command("taskset", append([]string{"--cpu-list", strconv.Itoa(allowed[0])}, cmd.Args...)...)
	pinned.Dir, pinned.Env = cmd.Dir, cmd.Env
	if s := finish(t, pinned); s.status == exitFailed {
		t.Fatalf("exit %d", s.status)
	}
	for _, trial := range c.only().Trials {
		for _, name := range []string{"server_steal", "client_steal", "server_cores_busy", "client_cores_busy"} {
			if _, ok := trial.Metrics[name]; !ok {
				t.Errorf("trial %d has no %s", trial.Seq, name)
			}
		}
		for _, name := range []string{"server_foreign_load", "client_foreign_load"} {
			if v := trial.Metrics[name]; v <= gate.ForeignLoad {
				t.Errorf("trial %d: %s is %v beside a busy loop", trial.Seq, name, v)
			}
		}
	}
}

// A wire that carries far less than is asked for makes a trial at a fixed rate
// invalid; TestWholeWay has the same wire in a closed loop.
func TestWireFarBelowTheAskedRate(t *testing.T) {
	if noWire(t) {
		t.Skip("this machine lets no user make namespaces")
	}
	c := newClone(t, thin, "/read", 1, 1)
	c.edit("pipelining = 1", "pipelining = 1\ngenerator = \"http_load\"\nrate = 2000")
	if s := c.run(); s.status != exitInvalid {
		t.Errorf("exit %d, want %d", s.status, exitInvalid)
	}
	expectAllInvalid(t, c.only(), "rate-short")
}

// master finds the server's first process: the one whose parent is no server.
func (c *clone) master() int {
	c.t.Helper()
	for _, p := range c.processes() {
		f := strings.Fields(p)
		if filepath.Base(f[1]) != "fiber_server" {
			continue
		}
		pid, _ := strconv.Atoi(f[0])
		if st := stat(pid); st != nil {
			if parent, _ := strconv.Atoi(st[1]); telemetry.Command(parent) != "fiber_server" {
				return pid
			}
		}
	}
	c.t.Fatal("no server found")
	return 0
}

func expectInvalid(t *testing.T, f *results.File, gate string) {
	t.Helper()
	for _, trial := range f.Trials {
		for _, r := range trial.Reasons {
			if r.Gate == gate && !trial.Valid {
				return
			}
		}
	}
	b, _ := json.Marshal(f.Trials)
	t.Errorf("no trial is invalid by %s: %s", gate, b)
}

func expectAllInvalid(t *testing.T, f *results.File, gate string) {
	t.Helper()
	expectInvalid(t, f, gate)
	for _, trial := range f.Trials {
		if trial.Valid {
			t.Errorf("trial %d is valid in spite of %s", trial.Seq, gate)
		}
	}
}

func TestSingleWrongAnswerInvalidates(t *testing.T) {
	t.Parallel()
	c := newClone(t, loopback, "/no-such-route", 3, 1)
	s := c.run()
	if s.status != exitInvalid {
		t.Errorf("exit %d, want %d", s.status, exitInvalid)
	}
	f := c.only()
	expectAllInvalid(t, f, "non-2xx")
	if len(f.Trials) != 9 {
		t.Errorf("%d trials, want three blocks of three", len(f.Trials))
	}
	if !strings.Contains(s.out, "99-tiny/count  invalid") {
		t.Error("the claim is not invalid")
	}
}

func TestNamespacesOff(t *testing.T) {
	t.Parallel()
	c := newClone(t, wire, "/read", 6, 1)
	// A kernel that refuses cannot be had here, so unshare refuses in its place.
	c.write("bin/unshare", "#!/bin/sh\necho 'unshare: unshare failed: Operation not permitted' >&2\nexit 1\n")
	if err := os.Chmod(filepath.Join(c.root, "bin/unshare"), 0o755); err != nil {
		t.Fatal(err)
	}
	c.env = []string{"PATH=" + filepath.Join(c.root, "bin") + ":" + os.Getenv("PATH")}
	s := c.run()
	if s.status != exitHeld {
		t.Errorf("exit %d, want %d: not applicable is no failure", s.status, exitHeld)
	}
	if f := c.only(); len(f.Trials) != 0 || !strings.Contains(f.NotApplicable, "no user make namespaces") {
		t.Errorf("trials %d, not applicable %q", len(f.Trials), f.NotApplicable)
	}
	if !strings.Contains(s.out, "not-applicable  no netns topology here:") {
		t.Error("the table does not say why")
	}
	if got := finish(t, c.command("check")); got.status != exitHeld {
		t.Errorf("lab check exits %d", got.status)
	}
}

func TestClearRefusals(t *testing.T) {
	const experiment = "lab/experiments/99-tiny.toml"
	tests := map[string]struct {
		spoil func(c *clone)
		want  []string
	}{
		"port in use": {func(c *clone) {
			l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(c.port))
			if err != nil {
				c.t.Fatal(err)
			}
			c.t.Cleanup(func() { l.Close() })
		}, []string{"99-tiny", "already in use", "--port"}},
		"no autocannon": {func(c *clone) { os.Remove(filepath.Join(c.root, "node_modules")) },
			[]string{"autocannon is not installed", "make setup"}},
		"no server": {func(c *clone) { os.Remove(filepath.Join(c.root, ".tools/bin/fiber_server")) },
			[]string{"the server cannot be started: server.sh: the server is not built", "make build"}},
		// A clone has no sources, so that any program will do; here it has some.
		"a program of other sources": {func(c *clone) { c.write("lab/go.mod", "module example.invalid/lab\n") },
			[]string{"does not say of which sources it was built", "make build"}},
		"corrupt TOML": {func(c *clone) { c.write(experiment, "entry = \"99\"\ntitle = ") },
			[]string{"99-tiny.toml", "line 2"}},
		"results of version 99": {func(c *clone) { c.write("data/results/99-tiny/old.json", `{"schema_version": 99}`) },
			[]string{"data/results/99-tiny/old.json", "/schema_version", "99"}},
		"truncated results": {func(c *clone) { c.write("data/results/99-tiny/old.json", "{\n\"schema_version\": 1,") },
			[]string{"data/results/99-tiny/old.json", "line 2"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClone(t, loopback, "/read", 1, 1)
			test.spoil(c)
			before := c.files()
			s := c.run()
			if s.status != exitFailed {
				t.Errorf("exit %d, want %d", s.status, exitFailed)
			}
			line := s.complaint(t)
			for _, w := range test.want {
				if !strings.Contains(line, w) {
					t.Errorf("%q lacks %q", line, w)
				}
			}
			if after := c.files(); len(after) != len(before) {
				t.Errorf("files in data/ were %v, are %v", before, after)
			}
		})
	}
}

func TestPlannedExperimentsArePassedOver(t *testing.T) {
	t.Parallel()
	c := newClone(t, loopback, "/read", 1, 1)
	const path = "lab/experiments/99-tiny.toml"
	design, err := os.ReadFile(filepath.Join(c.root, path))
	if err != nil {
		t.Fatal(err)
	}
	c.write("lab/experiments/98-later.toml", strings.Replace(string(design), `entry = "99"`, "entry = \"98\"\nplanned = \"the lab cannot turn the knob\"", 1))
	const why = "98-later is planned and cannot be run yet: the lab cannot turn the knob"
	for _, args := range [][]string{{"run", "98-later"}, {"profile", "98-later"}} {
		s := finish(t, c.command(args...))
		if line := s.complaint(t); s.status != exitFailed || !strings.Contains(line, why) {
			t.Errorf("%v: exit %d, %q", args, s.status, line)
		}
	}
	s := finish(t, c.command("reproduce", "98"))
	if s.status != exitFailed || !strings.Contains(s.err, "passed over: "+why) || !strings.Contains(s.err, "nothing to run") {
		t.Errorf("a planned entry: exit %d\n%s", s.status, s.err)
	}
	s = finish(t, c.command("reproduce", "--all", "--budget", "5s", "--port", strconv.Itoa(c.port)))
	if s.status == exitFailed || !strings.Contains(s.err, "passed over: "+why) || strings.Contains(s.out, "98-later/") {
		t.Errorf("all: exit %d\n%s%s", s.status, s.err, s.out)
	}
	if f := c.only(); f.Experiment != "99-tiny" {
		t.Errorf("a run of %s", f.Experiment)
	}
	s = finish(t, c.command("list"))
	if s.status != exitHeld || !strings.Contains(s.out, "98-later (entry 98, loopback, planned)") || !strings.Contains(s.out, "cannot be run yet: the lab cannot turn the knob") {
		t.Errorf("list: exit %d\n%s", s.status, s.out)
	}
}

func TestSecondLabWaitsItsTurn(t *testing.T) {
	t.Parallel()
	c := newClone(t, loopback, "/read", 1, 60)
	cmd, out, errs := c.underWay()
	s := finish(t, c.command("run", "99-tiny", "--port", strconv.Itoa(freePort(t))))
	if s.status != exitFailed || !strings.Contains(s.complaint(t), "another lab is measuring") {
		t.Errorf("exit %d", s.status)
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	wait(t, cmd, out, errs)
}

func TestWrongCalls(t *testing.T) {
	t.Parallel()
	c := newClone(t, loopback, "/read", 1, 1)
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"frobnicate"}, `no command "frobnicate"`},
		{nil, "see lab help"},
		{[]string{"reproduse"}, `no command "reproduse", did you mean "reproduce"?`},
		{[]string{"run"}, "one experiment"},
		{[]string{"run", "99-tiny", "98-other"}, "unexpected argument 98-other; see lab help run"},
		{[]string{"run", "99-tiny", "--host"}, "--host: expected string value but nothing follows"},
		{[]string{"run", "99-tiny", "-port", "0"}, "--port 0: use 1 to 65535"},
		{[]string{"run", "nothing"}, `no experiment "nothing"; there are 99-tiny`},
		{[]string{"run", "99-tiny", "--size", "full"}, "there is one design a file now"},
		{[]string{"profile", "99-tiny", "--size=smoke"}, "there is one design a file now"},
		{[]string{"run", "99-tiny", "--budget", "25h"}, "--budget 25h0m0s: use 1s to 24h"},
		{[]string{"run", "99-tiny", "--budget", "5"}, "write it with its unit, as 90s or 20m"},
		{[]string{"run", "99-tiny", "--blocks", "0"}, "--blocks 0: use 1 to 1000"},
		{[]string{"run", "99-tiny", "--prot", "1"}, `unknown flag --prot, did you mean "--port"? (see lab help run)`},
		{[]string{"reproduce", "12"}, `entry "12"; there are entries 99`},
		{[]string{"reproduce", "--all", "99"}, "not both"},
		{[]string{"check", "now"}, "unexpected argument now"},
		{[]string{"tune", "rsp"}, `no knob "rsp"; there are rps`},
		{[]string{"completion", "fish"}, `must be one of "bash"`},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			s := finish(t, c.command(test.args...))
			if line := s.complaint(t); s.status != exitFailed || !strings.Contains(line, test.want) {
				t.Errorf("exit %d, %q; want %q", s.status, line, test.want)
			}
		})
	}
	cmd := c.command("list")
	cmd.Dir = t.TempDir()
	if s := finish(t, cmd); s.status != exitFailed || !strings.Contains(s.complaint(t), "not inside a clone") {
		t.Errorf("outside a clone: exit %d", s.status)
	}
}
