package doctor

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/wire"
)

func TestMain(m *testing.M) {
	if status, is := wire.Called(os.Args[1:]); is {
		os.Exit(status)
	}
	os.Exit(m.Run())
}

// A tree has made-up files, as the kernel would show them, by their names.
type tree map[string]string

// madeUp is a machine of four cores that shows only the tree's files, below proc/ and sys/.
func madeUp(t *testing.T, tr tree) Machine {
	t.Helper()
	dir := t.TempDir()
	for name, text := range tr {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return Machine{root: dir, Split: cores.Split{Server: []int{0, 1}, Client: []int{2, 3}}, Allowed: []int{0, 1, 2, 3}}
}

func expect(t *testing.T, name string, f Finding, level Level, seen, mend string) {
	t.Helper()
	if f.Level != level || !strings.Contains(f.Seen, seen) || !strings.Contains(f.Mend, mend) || f.About == "" ||
		f.Seen == "" || (f.Means == "") != (f.Level == Good) || f.Level == Good && f.Mend != "" {
		t.Errorf("%s: %+v", name, f)
	}
}

func TestSettingsOfMachines(t *testing.T) {
	const cpu = "sys/devices/system/cpu/"
	denied := func(why string) func(Machine) (seen, means, mend string) {
		return func(m Machine) (seen, means, mend string) {
			m.Wire = func() error { return errors.New(why) }
			return m.wire()
		}
	}
	none := denied("no namespaces")
	for _, c := range []struct {
		name       string
		tree       tree
		see        func(Machine) (seen, means, mend string)
		level      Level
		seen, mend string
	}{
		{"a governor of performance", tree{cpu + "cpu0/cpufreq/scaling_governor": "performance"}, Machine.frequency, Good, "perf", ""},
		{"another governor", tree{cpu + "cpu0/cpufreq/scaling_governor": "powersave"}, Machine.frequency, Limit, "powersave", "tee"},
		{"cores", tree{cpu + "online": "0-7"}, Machine.division, Good, "4 of the machine's 8", ""},

		{"no quota", tree{"proc/self/cgroup": "0::/a", "sys/fs/cgroup/cgroup.procs": "", "sys/fs/cgroup/a/cpu.max": "max 100000"}, Machine.quota, Good, "none", ""},
		{"a quota", tree{"proc/self/cgroup": "0::/a/b", "sys/fs/cgroup/cgroup.procs": "", "sys/fs/cgroup/a/b/cpu.max": "max 100000",
			"sys/fs/cgroup/a/cpu.max": "150000 100000", "sys/fs/cgroup/a/cpu.stat": "nr_throttled 7\nthrottled_usec 1"},
			Machine.quota, Limit, "1.5 cores", "without a CPU limit"},
		{"no control groups", nil, Machine.quota, Limit, "not shown", "mount"},

		{"Ubuntu", tree{"proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1"}, none, Limit, "userns=1", "userns=0"},
		{"two denials", tree{"proc/sys/user/max_user_namespaces": "0", "proc/sys/kernel/unprivileged_userns_clone": "0"}, none,
			Limit, "clone=0, user.max", " && "},
		{"a container", nil, none, Limit, "no namespaces", "--privileged"},
		{"no tbf", nil, denied("no shaper (sch_tbf)"), Limit, "tbf", "modprobe"},
	} {
		f := Finding{Level: Good, About: "it"}
		if f.Seen, f.Means, f.Mend = c.see(madeUp(t, c.tree)); f.Means != "" {
			f.Level = Limit
		}
		expect(t, c.name, f, c.level, c.seen, c.mend)
	}
	// What a machine does not show has no line.
	for _, f := range madeUp(t, nil).Findings() {
		if slices.Contains([]string{"frequency", "wire"}, f.About) {
			t.Errorf("nothing shown: %+v", f)
		}
	}
}

func TestThisMachine(t *testing.T) {
	for _, m := range []Machine{{Allowed: []int{0}, Wire: wire.Try}, {Allowed: []int{0}}} {
		seen := map[string]bool{}
		for _, f := range m.Findings() {
			if seen[f.About] || f.Seen == "" || (f.Level == Good) != (f.Means == "") {
				t.Errorf("%+v", f)
			}
			if seen[f.About] = true; m.Wire == nil && strings.Contains(f.Means, "claim") {
				t.Errorf("without a wire, %s speaks of the journal: %s", f.About, f.Means)
			}
		}
		if !seen["cores"] || seen["wire"] != (m.Wire != nil) {
			t.Errorf("%v", seen)
		}
	}
}

func TestTheWorstIsPrintedFirst(t *testing.T) {
	var b strings.Builder
	err := Print(&b, []Finding{{Level: Good, About: "perf", Seen: "may sample"}, {Limit, "wire", "none", "no claims", "sudo x"},
		{Level: Fault, About: "node", Seen: "missing"}})
	const want = `fault  node            missing
limit  wire            none
                       no claims
                       to mend it: sudo x
ok     perf            may sample
`
	if err != nil || b.String() != want {
		t.Error(err, b.String())
	}
}
