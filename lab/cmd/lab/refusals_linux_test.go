package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/program/programtest"
)

func TestNamespacesOff(t *testing.T) {
	t.Parallel()
	c := newClone(t, netns, 1)
	inside := []string{"unshare", "--user", "--map-root-user", "sh", "-c",
		"echo 0 >/proc/sys/user/max_net_namespaces && exec \"$@\"", "sh"}
	if err := exec.Command(inside[0], append(inside[1:], "true")...).Run(); err != nil {
		t.Skipf("a user namespace of its own is needed to have a kernel that refuses: %v", err)
	}
	s := finish(t, by(c.run99(), inside...))
	if s.status != exitHeld {
		t.Errorf("exit %d, want %d: not applicable is no failure", s.status, exitHeld)
	}
	if found := c.files(); len(found) > 0 {
		t.Errorf("results of nothing: %q", found)
	}
	if !strings.Contains(s.out, "not applicable  not measured: no netns topology here:") {
		t.Error("the table does not say why")
	}
}

func TestSecondLabWaitsItsTurn(t *testing.T) {
	t.Parallel()
	c := newClone(t, loopback, 60)
	cmd, end := c.underWay()
	s := finish(t, c.command("run", "99-tiny", "--port", strconv.Itoa(programtest.FreePorts(t, 8))))
	if s.status != exitFailed || !strings.Contains(s.complaint(t), "another lab is measuring") {
		t.Errorf("exit %d", s.status)
	}
	// Ctrl-\ ends it like Ctrl-C. Go's own way is a dump of its stacks and exit status 2,
	// which says nothing.
	_ = cmd.Process.Signal(syscall.SIGQUIT)
	if s := end(); s.status != exitFailed || !strings.Contains(s.complaint(t), "interrupted") {
		t.Errorf("after SIGQUIT: exit %d", s.status)
	}
}

// by has other words start a command.
func by(cmd *exec.Cmd, words ...string) *exec.Cmd {
	again := exec.Command(words[0], append(words[1:], cmd.Args...)...)
	again.Dir, again.Env = cmd.Dir, cmd.Env
	return again
}

// without gives the clone a PATH that lacks a program.
func (c *clone) without(missing string) {
	c.t.Helper()
	for _, name := range []string{"env", "bash", "sh", "dirname", "taskset", "node", "git"} {
		path, err := exec.LookPath(name)
		if err != nil {
			c.t.Skip(err)
		}
		if name != missing {
			c.link(path, "bin/"+name)
		}
	}
	c.env = append(c.env, "PATH="+filepath.Join(c.root, "bin"))
}

// Before the first trial, one line says what would make each trial fail, or keep the run from being
// written. Nothing stays behind.
func TestWhatNoRunCanDoWithoutIsAskedForFirst(t *testing.T) {
	remove := func(name string) func(*clone) {
		return func(c *clone) { os.RemoveAll(filepath.Join(c.root, name)) }
	}
	for name, test := range map[string]struct {
		spoil  func(c *clone)
		mounts string // what a shell with a mount namespace of its own does before
		want   []string
	}{
		"port in use": {spoil: func(c *clone) {
			l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(c.port))
			if err != nil {
				c.t.Fatal(err)
			}
			c.t.Cleanup(func() { l.Close() })
		}, want: []string{"99-tiny", "already in use", "--port"}},
		"no autocannon": {spoil: remove("node_modules"), want: []string{"autocannon is not installed", "make setup"}},
		"no server": {spoil: remove(".tools/bin/fiber_server"),
			want: []string{"99-tiny: ", "fiber_server is neither built nor installed", "make build"}},
		"results of version 99": {spoil: func(c *clone) {
			c.write("data/results/99-tiny/old.json", `{"schema_version": 99}`)
		}, want: []string{"data/results/99-tiny/old.json", "/schema_version", "99"}},
		"no node": {spoil: func(c *clone) { c.without("node") }, want: []string{"99-tiny: node is neither built nor installed"}},
		"a node that does not start": {spoil: func(c *clone) {
			c.without("node")
			c.write("bin/node", "#!/bin/sh\necho 'node: no libc for this machine' >&2\nexit 1\n")
			os.Chmod(filepath.Join(c.root, "bin/node"), 0o755)
		}, want: []string{"99-tiny: node does not run"}},
		"no taskset": {spoil: func(c *clone) { c.without("taskset") },
			want: []string{"server.sh: taskset is not installed", "util-linux"}},
		"data that is read-only": {mounts: "mount --bind data data; mount -o remount,bind,ro data",
			want: []string{"lab: nothing was measured: ", "/data: ", "read-only file system", "make it writable"}},
		"scratch that is read-only": {mounts: "mkdir -p .tools/scratch; mount --bind .tools/scratch .tools/scratch; " +
			"mount -o remount,bind,ro .tools/scratch",
			want: []string{".tools/scratch", "read-only file system", "make it writable"}},
		"data on another disk": {mounts: "mount -t tmpfs tmpfs data",
			want: []string{"lab: nothing was measured: ", "/data: ", "one file system"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClone(t, loopback, 1)
			if test.spoil != nil {
				test.spoil(c)
			}
			cmd := c.run99()
			if test.mounts != "" {
				unshare := []string{"unshare", "--user", "--map-root-user", "--mount"}
				if os.Geteuid() == 0 {
					unshare = []string{"unshare", "--mount"}
				}
				if err := exec.Command(unshare[0], append(unshare[1:], "true")...).Run(); err != nil {
					t.Skip("this user may make no mount namespace")
				}
				cmd = by(cmd, append(unshare, "sh", "-c", "set -e; "+test.mounts+"; exec \"$@\"", "sh")...)
			}
			before := c.files()
			s := finish(t, cmd)
			line := s.complaint(t)
			if s.status != exitFailed || strings.Contains(s.err, "trial ") {
				t.Errorf("exit %d, want %d and no trial", s.status, exitFailed)
			}
			for _, w := range test.want {
				if !strings.Contains(line, w) {
					t.Errorf("%q lacks %q", line, w)
				}
			}
			if after := c.files(); !slices.Equal(after, before) {
				t.Errorf("files in data/ were %v, are %v", before, after)
			}
			if _, err := os.Stat(filepath.Join(c.root, "data/results/99-tiny")); err == nil && len(before) == 0 {
				t.Error("an empty directory is left in data/")
			}
			if left, _ := filepath.Glob(filepath.Join(c.root, ".tools/scratch/*")); len(left) > 1 {
				t.Errorf("left in scratch: %v", left) // besides the lock
			}
		})
	}
}
