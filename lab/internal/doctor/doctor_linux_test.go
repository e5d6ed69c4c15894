package doctor

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/wire"
)

func TestMain(m *testing.M) {
	if status, is := wire.Called(os.Args[1:]); is {
		os.Exit(status)
	}
	os.Exit(m.Run())
}

// clone is a made-up machine with the directory that the lab needs.
func clone(t *testing.T, tr tree) Machine {
	t.Helper()
	m := madeUp(t, tr)
	m.Root = t.TempDir()
	tree{".tools/bin/fiber_server": "", ".tools/bin/linerate": "", ".tools/bin/null_server": "",
		".tools/bin/event_producer": "", ".tools/bin/event_sink": "", "node_modules/autocannon/autocannon.js": ""}.put(t, m.Root)
	return m
}

// programPath makes a PATH with only the named programs and a shell.
func programPath(t *testing.T, names ...string) {
	t.Helper()
	bin := t.TempDir()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin)
}

func find(t *testing.T, fs []Finding, about string) Finding {
	t.Helper()
	for _, f := range fs {
		if f.About == about {
			return f
		}
	}
	t.Fatalf("nothing was found of %s", about)
	return Finding{}
}

func TestWhatIsMissingIsNamedWithItsMend(t *testing.T) {
	programPath(t)
	m := clone(t, nil)
	fs := m.programs()
	for _, about := range []string{"server", "autocannon", "linerate", "null server", "event producer", "event sink"} {
		expect(t, about, find(t, fs, about), Good, "present", "", "")
	}
	expect(t, "node", find(t, fs, "node"), Fault, "missing", "no experiment", "Node.js 20")
	expect(t, "taskset", find(t, fs, "taskset"), Fault, "missing", "pinned", "apt-get install util-linux")
	expect(t, "git", find(t, fs, "git"), Limit, "missing", "commit", "apt-get install git")
	programPath(t, "node", "taskset", "git")
	for gone, mend := range map[string]string{".tools/bin/fiber_server": "make build", "node_modules": "make setup"} {
		m := clone(t, nil)
		if err := os.RemoveAll(filepath.Join(m.Root, gone)); err != nil {
			t.Fatal(err)
		}
		about := map[string]string{"make build": "server", "make setup": "autocannon"}[mend]
		fs := m.programs()
		expect(t, gone, find(t, fs, about), Fault, "missing", "no experiment", mend)
		expect(t, "tools", find(t, fs, "tools"), Good, "node, taskset, git", "", "")
	}
}

func TestWhatForbidsNamespaces(t *testing.T) {
	forbidden := sysctls("user/max_user_namespaces", "0")
	for _, c := range []struct {
		work              bool
		tree              tree
		level             Level
		seen, means, mend string
	}{
		{true, nil, Good, "allowed", "", ""},
		{true, forbidden, Good, "own right", "", ""},
		{false, forbidden, Limit, "max_user_namespaces=0", "wire", "sysctl"},
		{false, nil, Limit, "none of the settings", "sandbox", "--privileged"},
	} {
		expect(t, c.seen, clone(t, c.tree).namespaces(c.work), c.level, c.seen, c.means, c.mend)
	}
}

func TestNothingIsFoundTwice(t *testing.T) {
	for name, m := range map[string]Machine{
		"made up, and bare":  clone(t, nil),
		"made up, and quiet": clone(t, limits("1024", "524288")),
		"this one":           {Root: t.TempDir(), Allowed: []int{0}, Watch: 10 * time.Millisecond, Experiments: designs(t)},
	} {
		seen := map[string]bool{}
		for _, f := range m.Examine() {
			if seen[f.About] || f.About == "" || (f.Level == Good) != (f.Means == "") {
				t.Errorf("%s: %+v", name, f)
			}
			seen[f.About] = true
		}
		if len(seen) < 20 {
			t.Errorf("%s: %d findings", name, len(seen))
		}
	}
}
