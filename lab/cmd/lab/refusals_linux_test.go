package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/program/programtest"
)

func TestNamespacesOff(t *testing.T) {
	t.Parallel()
	c := newClone(t, netns, "/read", 6, 1)
	inside := []string{"--user", "--map-root-user", "sh", "-c", "echo 0 >/proc/sys/user/max_net_namespaces && exec \"$@\"", "sh"}
	if err := exec.Command("unshare", append(inside, "true")...).Run(); err != nil {
		t.Skipf("a user namespace of its own is needed to have a kernel that refuses: %v", err)
	}
	cmd := c.run99()
	refused := exec.Command("unshare", append(inside, cmd.Args...)...)
	refused.Dir, refused.Env = cmd.Dir, cmd.Env
	s := finish(t, refused)
	if s.status != exitHeld {
		t.Errorf("exit %d, want %d: not applicable is no failure", s.status, exitHeld)
	}
	if found, _ := filepath.Glob(filepath.Join(c.root, "data/results/*/*.json")); len(found) > 0 {
		t.Errorf("results of nothing: %q", found)
	}
	if !strings.Contains(s.out, "not applicable  not measured: no netns topology here:") {
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

func TestSecondLabWaitsItsTurn(t *testing.T) {
	t.Parallel()
	c := newClone(t, loopback, "/read", 1, 60)
	cmd, end := c.underWay()
	s := finish(t, c.command("run", "99-tiny", "--port", strconv.Itoa(programtest.FreePorts(t, 8))))
	if s.status != exitFailed || !strings.Contains(s.complaint(t), "another lab is measuring") {
		t.Errorf("exit %d", s.status)
	}
	// Ctrl-\ ends it like Ctrl-C. Go's own way is a dump of its stacks and exit status 2,
	// which says that a claim is invalid.
	_ = cmd.Process.Signal(syscall.SIGQUIT)
	if s := end(); s.status != exitFailed || !strings.Contains(s.complaint(t), "interrupted") {
		t.Errorf("after SIGQUIT: exit %d", s.status)
	}
}

func TestWrongCalls(t *testing.T) {
	t.Parallel()
	c := newClone(t, loopback, "/read", 1, 1)
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"frobnicate"}, `no command "frobnicate"`},
		{[]string{"reproduse"}, `no command "reproduse", did you mean "reproduce"?`},
		{[]string{"run"}, "one experiment"},
		{[]string{"run", "99-tiny", "98-other"}, "unexpected argument 98-other; see lab help run"},
		{[]string{"run", "99-tiny", "--host"}, "--host: expected string value but nothing follows"},
		{[]string{"run", "99-tiny", "-port", "0"}, "--port 0: use 1 to 65535"},
		{[]string{"run", "nothing"}, `no experiment "nothing"; there is only 99-tiny`},
		{[]string{"run", "99-tiny", "--budget", "25h"}, "--budget 25h0m0s: use 1s to 24h"},
		{[]string{"run", "99-tiny", "--budget", "5"}, "write it with its unit, as 90s or 20m"},
		{[]string{"run", "99-tiny", "--blocks", "0"}, "--blocks 0: use 1 to 1000"},
		{[]string{"run", "99-tiny", "--prot", "1"}, `unknown flag --prot, did you mean "--port"? (see lab help run)`},
		{[]string{"reproduce", "12"}, `is called "12"; there are 99, 99-tiny`},
		{[]string{"reproduce", "--all", "99"}, "not both"},
		{[]string{"check", "now"}, "unexpected argument now"},
		{[]string{"tune", "aply", "rps"}, `must be one of "plan"`},
		{[]string{"tune", "plan"}, `no knob ""`},
		{[]string{"tune", "plan", "rsp"}, `no knob "rsp"; did you mean "rps"? There are rps`},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			s := finish(t, c.command(test.args...))
			if line := s.complaint(t); s.status != exitFailed || !strings.Contains(line, test.want) {
				t.Errorf("exit %d, %q; want %q", s.status, line, test.want)
			}
		})
	}
	cmd := c.command("check")
	cmd.Dir = t.TempDir()
	if s := finish(t, cmd); s.status != exitFailed || !strings.Contains(s.complaint(t), "not inside a clone") {
		t.Errorf("outside a clone: exit %d", s.status)
	}
}
