package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// ready is a wire that comes up, and ends with its input.
const ready = `echo "wire ready server_addr=10.0.0.1 server_dev=eth0 server_pid=$$ client_pid=$$" >&2; cat >/dev/null`

// clone is a made-up machine with the directory that the lab needs, and a
// wire.sh that runs the test's script instead of making a wire.
func clone(t *testing.T, wire string, tr tree) Machine {
	t.Helper()
	m := madeUp(t, tr)
	m.Root = t.TempDir()
	tree{".tools/bin/fiber_server": "", ".tools/bin/linerate": "", ".tools/bin/null_server": "",
		".tools/bin/event_producer": "", ".tools/bin/event_sink": "", "node_modules/autocannon/autocannon.js": "",
		"lab/scripts/wire.sh": "#!/bin/sh\n" + wire}.put(t, m.Root)
	if err := os.Chmod(filepath.Join(m.Root, "lab/scripts/wire.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
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
	m := clone(t, ready, nil)
	fs := m.programs()
	for _, about := range []string{"server", "autocannon", "linerate", "null server", "event producer", "event sink"} {
		expect(t, about, find(t, fs, about), Good, "present", "", "")
	}
	expect(t, "node", find(t, fs, "node"), Fault, "missing", "no experiment", "Node.js 20")
	expect(t, "taskset", find(t, fs, "taskset"), Fault, "missing", "pinned", "apt-get install util-linux")
	expect(t, "git", find(t, fs, "git"), Limit, "missing", "commit", "apt-get install git")
	for _, about := range []string{"ip", "tc", "unshare", "nsenter", "setpriv"} {
		f := find(t, fs, about)
		expect(t, about, f, Limit, "missing", "not applicable", "apt-get install")
		if !f.Bars {
			t.Errorf("%s bars no claim", about)
		}
	}

	programPath(t, "node", "taskset", "git", "ip", "tc", "unshare", "nsenter", "setpriv")
	for gone, mend := range map[string]string{".tools/bin/fiber_server": "make build", "node_modules": "make setup"} {
		m := clone(t, ready, nil)
		if err := os.RemoveAll(filepath.Join(m.Root, gone)); err != nil {
			t.Fatal(err)
		}
		about := map[string]string{"make build": "server", "make setup": "autocannon"}[mend]
		fs := m.programs()
		expect(t, gone, find(t, fs, about), Fault, "missing", "no experiment", mend)
		expect(t, "tools", find(t, fs, "tools"), Good, "node, taskset, git, ip, tc, unshare, nsenter, setpriv", "", "")
	}
}

func TestTheWireIsTriedAndTakenDown(t *testing.T) {
	for _, c := range []struct {
		name, script      string
		level             Level
		seen, means, mend string
		bars              bool
	}{
		{"it can be made", ready, Good, "can be made", "", "", false},
		{"no namespaces here", `echo "wire.sh: user namespaces are off" >&2; exit 4`, Limit, "user namespaces are off",
			"not applicable", "", true},
		{"a tool is missing", `echo "wire.sh: tc is missing" >&2; exit 3`, Limit, "tc is missing", "not applicable", "",
			true},
		{"it fails", `echo "wire.sh: out of luck" >&2; exit 1`, Fault, "out of luck", "with this error", "",
			true},
		{"the kernel has no tbf", `echo "Error: Specified qdisc kind is unknown." >&2; exit 2`, Fault, "qdisc", "over a wire",
			"modprobe sch_tbf", true},
		{"it says nothing of use", `echo "wire ready server_addr=x" >&2; cat >/dev/null`, Fault, "server_pid", "over a wire", "",
			true},
	} {
		fs := clone(t, c.script, nil).wires()
		f := find(t, fs, "wire")
		expect(t, c.name, f, c.level, c.seen, c.means, c.mend)
		if f.Bars != c.bars {
			t.Errorf("%s: bars %v", c.name, f.Bars)
		}
		find(t, fs, "namespaces")
	}
}

func TestAMissingToolIsNotLaidToNamespaces(t *testing.T) {
	const lacks = `echo "wire.sh: tc is not installed" >&2; exit 3`
	expect(t, "no setting forbids them", find(t, clone(t, lacks, nil).wires(), "namespaces"), Good, "not tried", "", "")
	forbidden := sysctls("user/max_user_namespaces", "0")
	expect(t, "a setting does", find(t, clone(t, lacks, forbidden).wires(), "namespaces"), Limit, "max_user_namespaces=0",
		"wire", "sysctl")
}

func TestTheWireIsGoneAfterwards(t *testing.T) {
	said := filepath.Join(t.TempDir(), "pid")
	fs := clone(t, `echo $$ > '`+said+`'; `+ready, nil).wires()
	if f := find(t, fs, "wire"); f.Level != Good {
		t.Fatalf("%+v", f)
	}
	pid, err := os.ReadFile(said)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join("/proc", strings.TrimSpace(string(pid)))); err == nil {
		t.Error("its process stays behind")
	}
}

func TestNothingIsFoundTwice(t *testing.T) {
	for name, m := range map[string]Machine{
		"made up, and bare":  clone(t, `exit 4`, nil),
		"made up, and quiet": clone(t, ready, limits("1024", "524288")),
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
