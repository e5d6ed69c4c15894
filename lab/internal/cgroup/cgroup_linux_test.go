package cgroup

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

func TestHierarchiesOfBothVersions(t *testing.T) {
	got := hierarchies([]byte(`31 23 0:27 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw
32 23 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
33 23 0:29 /inner /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
`))
	want := []hierarchy{{"/sys/fs/cgroup/cpu,cpuacct", "/inner", "cpuacct.usage", "cpuacct"},
		{"/sys/fs/cgroup/unified", "/", "cpu.stat", ""}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

// made makes a group with a group below it, in which a process is.
func made(t *testing.T, name string) (path string, pid int) {
	t.Helper()
	all, err := mounted()
	if err != nil {
		t.Skip(err)
	}
	dir := filepath.Join(all[0].at, name)
	below := filepath.Join(dir, "below")
	if err := os.MkdirAll(below, 0o755); err != nil {
		t.Skip("no cgroup can be made here: ", err)
	}
	t.Cleanup(func() {
		for _, one := range []string{below, dir} {
			if err := os.Remove(one); err != nil {
				t.Error(err)
			}
		}
	})
	sleeps := exec.Command("sleep", "60")
	if err := sleeps.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sleeps.Process.Kill(); _ = sleeps.Wait() })
	pid = sleeps.Process.Pid
	if err := os.WriteFile(filepath.Join(below, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0o644); err != nil {
		t.Skip("no process can be put into a cgroup: ", err)
	}
	return filepath.Join(all[0].root, name), pid
}

func TestAGroupHasTheProcessesBelowIt(t *testing.T) {
	path, pid := made(t, fmt.Sprintf("line-rate-test-%d", os.Getpid()))
	g, err := Find(path)
	if err != nil {
		t.Fatal(err)
	}
	if pids, err := g.Processes(); err != nil || !reflect.DeepEqual(pids, []int{pid}) {
		t.Errorf("%v, %v: want %d", pids, err, pid)
	}
	if same, err := Find(g.Dir); err != nil || same != g {
		t.Errorf("by its directory: %+v, %v", same, err)
	}
	if text, err := os.ReadFile(g.File); err != nil || len(text) == 0 {
		t.Error(err)
	}
}

func TestGroupsThatCannotBeMeasured(t *testing.T) {
	for path, says := range map[string]string{"/": "this call itself runs in the cgroup /", "/no/such": "there is no cgroup /no/such"} {
		if _, err := Find(path); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
	if _, err := (Group{Path: "/a", File: "/nowhere"}).Processes(); err == nil || !strings.Contains(err.Error(), "/a is gone") {
		t.Error(err)
	}
}
