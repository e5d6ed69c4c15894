package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// without gives the clone a PATH that lacks some programs.
func (c *clone) without(missing ...string) {
	c.t.Helper()
	for _, name := range []string{"env", "bash", "sh", "dirname", "taskset", "node", "git"} {
		path, err := exec.LookPath(name)
		if err != nil {
			c.t.Skip(err)
		}
		c.link(path, "bin/"+name)
	}
	for _, name := range missing {
		if err := os.Remove(filepath.Join(c.root, "bin", name)); err != nil {
			c.t.Fatal(err)
		}
	}
	c.env = append(c.env, "PATH="+filepath.Join(c.root, "bin"))
}

// Too few open files keep the experiment from being run here, and no other beside it; what to do is said.
func TestFewOpenFilesAreSaid(t *testing.T) {
	c := newClone(t, loopback, "/read", 1, 1)
	cmd := c.run99()
	by := exec.Command("sh", append([]string{"-c", "ulimit -n 60; exec \"$@\"", "sh"}, cmd.Args...)...)
	by.Dir, by.Env = cmd.Dir, cmd.Env
	s := finish(t, by)
	for _, w := range []string{"nothing of 99-tiny can be measured here",
		"server and client need 68 open files each, and the hard limit is 60", "prlimit --pid $$ --nofile=136:136"} {
		if !strings.Contains(s.err+s.out, w) {
			t.Errorf("%q lacks %q", s.err+s.out, w)
		}
	}
	if s.status == exitFailed || strings.Contains(s.err, "trial ") {
		t.Errorf("exit %d, %s", s.status, s.err)
	}
}

// A problem that would make each trial fail, or keep the run from being written, is
// reported before the first trial, in one line, and nothing is left behind.
func TestWhatNoRunCanDoWithoutIsAskedForFirst(t *testing.T) {
	// within runs the lab from a shell that has run some commands before.
	within := func(before string) func(c *clone, lab []string) []string {
		return func(c *clone, lab []string) []string {
			return append([]string{"sh", "-c", "set -e; cd \"$0\"; " + before + "; exec \"$@\"", c.root}, lab...)
		}
	}
	mounts := func(before string) func(c *clone, lab []string) []string {
		return func(c *clone, lab []string) []string {
			unshare := []string{"unshare", "--user", "--map-root-user", "--mount"}
			if os.Geteuid() == 0 {
				unshare = []string{"unshare", "--mount"}
			}
			if err := exec.Command(unshare[0], append(unshare[1:], "true")...).Run(); err != nil {
				c.t.Skip("this user may make no mount namespace")
			}
			return append(unshare, within(before)(c, lab)...)
		}
	}
	for name, test := range map[string]struct {
		spoil func(c *clone)
		by    func(c *clone, lab []string) []string
		want  []string
	}{
		"no node": {spoil: func(c *clone) { c.without("node") },
			want: []string{"99-tiny: the client cannot be started: trial.sh: node is not installed", "install Node.js"}},
		"a node that does not start": {spoil: func(c *clone) {
			c.without("node")
			c.write("bin/node", "#!/bin/sh\necho 'node: no libc for this machine' >&2\nexit 1\n")
			os.Chmod(filepath.Join(c.root, "bin/node"), 0o755)
		}, want: []string{"the client cannot be started: node: no libc for this machine"}},
		"no taskset": {spoil: func(c *clone) { c.without("taskset") },
			want: []string{"the server cannot be started: server.sh: taskset is not installed", "util-linux"}},
		"a server that is no program": {spoil: func(c *clone) {
			os.Remove(filepath.Join(c.root, ".tools/bin/fiber_server"))
			c.write(".tools/bin/fiber_server", "\x7fELF and no more")
			os.Chmod(filepath.Join(c.root, ".tools/bin/fiber_server"), 0o755)
		}, want: []string{"99-tiny: the server cannot be started"}},
		"a generator that may not be started": {spoil: func(c *clone) {
			c.edit("pipelining = 1", "pipelining = 1\ngenerator = \"http_load\"")
			os.Remove(filepath.Join(c.root, ".tools/bin/http_load"))
		}, want: []string{"http_load is neither built nor installed", "make build"}},
		"data that is read-only": {by: mounts("mount --bind data data; mount -o remount,bind,ro data"),
			want: []string{"lab: nothing was measured: ", "/data: ", "read-only file system", "make it writable"}},
		"scratch that is read-only": {by: mounts("mkdir -p .tools/scratch; mount --bind .tools/scratch .tools/scratch; " +
			"mount -o remount,bind,ro .tools/scratch"),
			want: []string{".tools/scratch", "read-only file system", "make it writable"}},
		"a full disk": {by: mounts(`mkdir small; mount -t tmpfs -o size=1m tmpfs small; cp -a lab data .tools node_modules small; cd small`),
			want: []string{"lab: nothing was measured: ", ".tools/scratch", "no space left on device", "make room"}},
		"data on another disk": {by: mounts("mount -t tmpfs tmpfs data"),
			want: []string{"lab: nothing was measured: ", "/data: ", "one file system"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClone(t, loopback, "/read", 1, 1)
			if test.spoil != nil {
				test.spoil(c)
			}
			cmd := c.run99()
			if test.by != nil {
				argv := test.by(c, cmd.Args)
				by := exec.Command(argv[0], argv[1:]...)
				by.Dir, by.Env = cmd.Dir, cmd.Env
				cmd = by
			}
			s := finish(t, cmd)
			line := s.complaint(t)
			if s.status != exitFailed {
				t.Errorf("exit %d, want %d", s.status, exitFailed)
			}
			for _, w := range test.want {
				if !strings.Contains(line, w) {
					t.Errorf("%q lacks %q", line, w)
				}
			}
			if strings.Contains(s.err, "trial ") {
				t.Error("a trial was made")
			}
			if left := c.files(); len(left) > 0 {
				t.Errorf("files in data/: %v", left)
			}
			if _, err := os.Stat(filepath.Join(c.root, "data/results/99-tiny")); err == nil {
				t.Error("an empty directory is left in data/")
			}
			if left, _ := filepath.Glob(filepath.Join(c.root, ".tools/scratch/*")); len(left) > 1 {
				t.Errorf("left in scratch: %v", left) // besides the lock
			}
		})
	}
}
