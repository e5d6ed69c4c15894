package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/experiment"
)

// clone makes a directory that has what the lab needs, and a wire.sh that does
// what the test says instead of making a wire.
func clone(t *testing.T, wire string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		".tools/bin/fiber_server":               "",
		"node_modules/autocannon/autocannon.js": "",
		"lab/scripts/wire.sh":                   "#!/bin/sh\n" + wire + "\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// ready is a wire that comes up, and goes when its input ends.
const ready = `echo "wire ready server_addr=10.0.0.1 server_dev=eth0 server_pid=$$ client_pid=$$" >&2; cat >/dev/null`

var (
	netns = experiment.Topology{Kind: "netns", LineRateBps: 1e8, BurstBytes: 1 << 18, QueueS: 0.02}
	four  = cores.Split{Server: []int{0, 1}, Client: []int{2, 3}}
)

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

func TestWhatIsMissingIsAFaultWithItsMend(t *testing.T) {
	root := clone(t, ready)
	for _, about := range []string{"server", "autocannon"} {
		if f := find(t, Examine(root, four, netns), about); f.Level != Good || f.Means != "" || f.Mend != "" {
			t.Errorf("%+v", f)
		}
	}
	for path, c := range map[string]struct{ about, mend string }{
		".tools/bin/fiber_server": {"server", "make build"},
		"node_modules":            {"autocannon", "make setup"},
	} {
		root := clone(t, ready)
		if err := os.RemoveAll(filepath.Join(root, path)); err != nil {
			t.Fatal(err)
		}
		f := find(t, Examine(root, four, netns), c.about)
		if f.Level != Fault || f.Seen != "missing" || f.Means == "" || f.Mend != c.mend {
			t.Errorf("without %s: %+v", path, f)
		}
	}
}

func TestProgramsAreLookedForInThePath(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	for _, name := range []string{"node", "taskset"} {
		if f := program(name, "means", "mend"); f.Level != Fault || f.Means != "means" || f.Mend != "mend" {
			t.Errorf("%+v", f)
		}
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if f := program(name, "means", "mend"); f.Level != Good {
			t.Errorf("%+v", f)
		}
	}
}

func TestCoresSayWhichClaimsTheyBear(t *testing.T) {
	for _, c := range []struct {
		name        string
		split       cores.Split
		level       Level
		seen, means string
	}{
		{"one core", cores.Split{}, Limit, "one core", "share it"},
		{"two cores", cores.Split{Server: []int{0}, Client: []int{1}}, Limit, "server on 0, client on 1", "need four cores"},
		{"four cores", four, Good, "server on 0-1, client on 2-3", ""},
	} {
		f := division(c.split)
		if f.Level != c.level || f.Seen != c.seen || !strings.Contains(f.Means, c.means) || c.means == "" && f.Means != "" {
			t.Errorf("%s: %+v", c.name, f)
		}
	}
}

func TestTheWireIsTriedAndTakenDown(t *testing.T) {
	for _, c := range []struct {
		name, script string
		level        Level
		seen         string
	}{
		{"it can be made", ready, Good, "can be made"},
		{"no namespaces here", `echo "wire.sh: user namespaces are off" >&2; exit 4`, Limit, "user namespaces are off"},
		{"a tool is missing", `echo "wire.sh: tc is missing" >&2; exit 3`, Limit, "tc is missing"},
		{"it fails", `echo "wire.sh: out of luck" >&2; exit 1`, Fault, "out of luck"},
		{"it says nothing of use", `echo "wire ready server_addr=x" >&2; cat >/dev/null`, Fault, "server_pid"},
	} {
		root := clone(t, c.script)
		f := tryWire(root, netns)
		if f.Level != c.level || !strings.Contains(f.Seen, c.seen) || (f.Means == "") != (c.level == Good) {
			t.Errorf("%s: %+v", c.name, f)
		}
	}
}

func TestTheWireIsGoneAfterwards(t *testing.T) {
	said := filepath.Join(t.TempDir(), "pid")
	root := clone(t, `echo $$ > '`+said+`'; `+ready)
	if f := tryWire(root, netns); f.Level != Good {
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

func TestEveryFindingThatIsNotGoodSaysWhatItMeans(t *testing.T) {
	fs := Examine(clone(t, `exit 4`), cores.Split{}, netns)
	if len(fs) != 8 {
		t.Errorf("%d findings", len(fs))
	}
	seen := map[string]bool{}
	for _, f := range fs {
		if seen[f.About] || f.About == "" || f.Seen == "" && f.About != "wire" {
			t.Errorf("%+v", f)
		}
		seen[f.About] = true
		if (f.Level == Good) != (f.Means == "") {
			t.Errorf("%s: %s, means %q", f.About, f.Level, f.Means)
		}
	}
}
