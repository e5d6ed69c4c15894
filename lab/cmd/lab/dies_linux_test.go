package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/telemetry"
)

// underWay starts a run and waits until its first trial is loaded.
func (c *clone) underWay() (cmd *exec.Cmd, end func() said) {
	c.t.Helper()
	cmd = c.run99()
	end = begin(c.t, cmd)
	c.loaded(0)
	return cmd, end
}

// loaded waits for a trial that is under way and whose client is not the given one, and
// returns its client.
func (c *clone) loaded(last int) (client int) {
	c.t.Helper()
	// Well into the measured part: starting and the short warm-up cost the client less
	// CPU time than this.
	eventually(c.t, 60*time.Second, "a loaded trial", func() bool {
		client = c.pid("autocannon")
		return client != last && c.pid("fiber_server") > 0 && ticks(client) > 70
	})
	return client
}

// stat returns the fields of a process's stat line from the third on, or none if it has
// ended.
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

// pid finds a running process of the clone by its command line. Wrappers that only have
// the program's name as an argument do not count.
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
				cmd, end := c.underWay()
				if err := cmd.Process.Signal(sig); err != nil {
					t.Fatal(err)
				}
				s := end()
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

// Four trials of one run: the server is killed, then one of its workers, then the client
// is stopped for a while, and at last killed. Only the third trial, and those after the
// fourth, run for their full length. No trial is repeated.
func TestAloneWhatDiesOrIsStoppedInMidTrial(t *testing.T) {
	c := newClone(t, loopback, "/read", 2, 4) // long enough for a client that gets only a part of a core
	send := func(pid int, sig syscall.Signal) {
		t.Helper()
		if err := syscall.Kill(pid, sig); err != nil {
			t.Fatal(err)
		}
	}
	_, end := c.underWay()
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

	s := end()
	f := c.only()
	if len(f.Trials) != 6 {
		t.Fatalf("%d trials, want two blocks of three", len(f.Trials))
	}
	want := exitNotHeld
	rest := *f
	rest.Trials = f.Trials[4:]
	if !slices.ContainsFunc(rest.Trials, func(one results.Trial) bool { return one.Valid }) && weather(&rest) {
		want = exitInvalid // the machine was too disturbed for the trials that nothing was done to
	}
	if s.status != want {
		t.Errorf("exit %d, want %d", s.status, want)
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
