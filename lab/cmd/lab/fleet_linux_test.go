package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/session"
)

// A crew is a fleet whose hosts are clones on this machine, started without SSH.
type crew struct {
	*clone           // the controller's
	hosts  []*clone  // the server's first
	vars   []hostVar // by host
}

type hostVar map[string]any

// newCrew makes one with so many clients. The inventory is what Ansible's program would
// print of it; only test-fleet has the program itself.
func newCrew(t *testing.T, clients, blocks int) *crew {
	t.Helper()
	c := &crew{clone: newClone(t, loopback, "/simple", blocks, 1)}
	c.fleets()
	for i := range clients + 1 {
		h := newClone(t, loopback, "/simple", blocks, 1)
		h.fleets()
		h.link(labBinary, ".tools/bin/lab")
		c.hosts = append(c.hosts, h)
		c.vars = append(c.vars, hostVar{"ansible_connection": "local", "line_rate_dir": h.root, "line_rate_bps": 1e9,
			"line_rate_cpus": strconv.Itoa(min(i, 1))})
	}
	return c
}

// fleets has the design use the lab's own generator.
func (c *clone) fleets() {
	c.t.Helper()
	c.edit("pipelining = 1\n", "pipelining = 1\ngenerator = \"http_load\"\nrate = 400\n")
	c.edit("slot_s = 1\n", "slot_s = 0.2\n")
	c.edit("rounds = 1\n", "rounds = 2\n")
}

func (c *crew) inventory() {
	c.t.Helper()
	vars, server, clients := map[string]hostVar{}, "", []string{}
	for i, v := range c.vars {
		name := fmt.Sprintf("host%d.example", i)
		vars[name] = v
		if server == "" {
			server = name
		} else {
			clients = append(clients, name)
		}
	}
	text, err := json.Marshal(map[string]any{"_meta": map[string]any{"hostvars": vars},
		"server": map[string]any{"hosts": []string{server}}, "clients": map[string]any{"hosts": clients}})
	if err != nil {
		c.t.Fatal(err)
	}
	const program = ".tools/ansible/bin/ansible-inventory"
	c.write("lab/fleet/inventory.yml", "made up\n")
	c.write(program, "#!/bin/sh\ncat <<'EOF'\n"+string(text)+"\nEOF\n")
	if err := os.Chmod(filepath.Join(c.root, program), 0o755); err != nil {
		c.t.Fatal(err)
	}
}

// fleet is the call that measures on the fleet.
func (c *crew) fleet() []string {
	c.inventory()
	return []string{"run", "--topology", "fleet", "99-tiny", "--port", strconv.Itoa(c.port), "--blocks",
		strconv.Itoa(c.blocks)}
}

// quiet waits until none of some hosts does anything.
func (c *crew) quiet(hosts ...*clone) {
	c.t.Helper()
	eventually(c.t, 10*time.Second, "all processes gone", func() bool {
		for _, h := range hosts {
			if len(h.processes()) > 0 {
				return false
			}
		}
		return true
	})
}

func TestARunOnAFleetOfThisMachine(t *testing.T) {
	t.Parallel()
	if few(t) {
		t.Skip("server and clients need a core each")
	}
	c := newCrew(t, 2, 1)
	s := finish(t, c.command(c.fleet()...))
	f := c.only()
	if !f.OnFleet() || len(f.Hosts.Clients) != 2 || f.Topology.Kind != "fleet" || f.Machines() != 1 {
		t.Errorf("hosts %+v, topology %+v, %d machines", f.Hosts, f.Topology, f.Machines())
	}
	for _, trial := range f.Trials {
		if len(trial.Clients) != 2 {
			t.Errorf("trial %d has figures of %d clients", trial.Seq, len(trial.Clients))
		}
	}
	if s.status >= exitFailed || !strings.Contains(s.out, "99-tiny/count") {
		t.Errorf("exit %d, %q", s.status, s.out)
	}
	if !strings.Contains(s.err, "block 1, the last (blocks)") {
		t.Error("no progress was shown")
	}
	for _, name := range c.files() {
		text, err := os.ReadFile(filepath.Join(c.root, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, private := range []string{".example", c.root, c.hosts[0].root, c.hosts[1].root, "127.0.0.1"} {
			if strings.HasPrefix(name, "data/results/") && strings.Contains(string(text), private) {
				t.Errorf("%s has %s in it", name, private)
			}
		}
	}
	if s := finish(t, c.command("check")); s.status != exitHeld {
		t.Errorf("check exits %d", s.status)
	}
	if s := finish(t, c.command("fleet", "collect")); s.status != exitHeld ||
		!strings.Contains(s.out, "nothing to collect") {
		t.Errorf("collect: %q", s.out)
	}
	if s := finish(t, c.command("fleet", "hosts")); s.status != exitHeld || strings.Count(s.out, "\n") != 3 ||
		!strings.Contains(s.out, "client 2, host2.example: ") || !strings.Contains(s.out, "by round-trips") {
		t.Errorf("hosts: %q", s.out)
	}
	c.quiet(append(c.hosts, c.clone)...)
}

// few reports whether there are too few cores for a fleet on this machine.
func few(t *testing.T) bool {
	t.Helper()
	cpus, err := session.AllowedCPUs()
	return err != nil || len(cpus) < 2 || cpus[0] != 0 || cpus[1] != 1
}

// The controller is interrupted, killed, or stands still for longer than the others
// wait for it.
func TestAFleetWithoutItsController(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL, syscall.SIGSTOP} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			withoutController(t, sig)
		})
	}
}

func withoutController(t *testing.T, sig syscall.Signal) {
	if few(t) {
		t.Skip("server and clients need a core each")
	}
	c := newCrew(t, 1, 9)
	cmd := c.command(c.fleet()...)
	end := begin(t, cmd)
	server, client := c.hosts[0], c.hosts[1]
	eventually(t, time.Minute, "a complete block", func() bool {
		kept, _ := filepath.Glob(filepath.Join(server.root, ".tools/scratch/pending/99-tiny/*.0001"))
		return len(kept) > 0
	})
	eventually(t, time.Minute, "a load of the next one", func() bool { return client.pid("http_load") > 0 })
	if err := cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	if sig == syscall.SIGSTOP {
		c.quiet(c.hosts...)
		_ = cmd.Process.Signal(syscall.SIGCONT)
	}
	s := end()
	c.quiet(append(c.hosts, c.clone)...)
	switch sig {
	case syscall.SIGINT:
		if line := s.complaint(t); s.status != exitFailed || !strings.Contains(line, "interrupted; ") ||
			!strings.Contains(line, "kept") {
			t.Errorf("exit %d: %s", s.status, line)
		}
	default:
		if sig == syscall.SIGSTOP && s.status != exitFailed {
			t.Errorf("exit %d", s.status)
		}
		if found := c.files(); sig == syscall.SIGKILL && len(found) > 0 {
			t.Errorf("the controller has %v", found)
		}
		if s := finish(t, c.command("fleet", "collect")); s.status != exitHeld ||
			!strings.Contains(s.out, "collected data/results/99-tiny/") {
			t.Errorf("exit %d: %q", s.status, s.out)
		}
	}
	if f := c.only(); f.Provenance.Ended != "interrupted" || f.Provenance.Blocks < 1 {
		t.Errorf("%d blocks, %s", f.Provenance.Blocks, f.Provenance.Ended)
	}
	if s := finish(t, c.command("check")); s.status != exitHeld {
		t.Errorf("check exits %d", s.status)
	}
}

func TestFlagsOfAFleet(t *testing.T) {
	t.Parallel()
	c := newClone(t, loopback, "/simple", 1, 1)
	for _, one := range []struct {
		want string
		args []string
	}{
		{"--topology must be one of", []string{"run", "99-tiny", "--topology", "flet"}},
		{"there is no lab/fleet/inventory.yml; write one", []string{"run", "99-tiny", "--topology", "fleet"}},
		{"--inventory is of a fleet; add --topology fleet", []string{"run", "99-tiny", "--inventory", "x"}},
		{"nowhere.yml: no such file", []string{"fleet", "hosts", "--inventory", "nowhere.yml"}},
	} {
		if line := finish(t, c.command(one.args...)).complaint(t); !strings.Contains(line, one.want) {
			t.Errorf("%v: %q, want %q", one.args, line, one.want)
		}
	}
	c.write("lab/fleet/inventory.yml", "made up\n")
	c.env = []string{"PATH=/nowhere"}
	if line := finish(t, c.command("run", "99-tiny", "--topology", "fleet")).complaint(t); !strings.Contains(line,
		"run make ansible") {
		t.Error(line)
	}
}
