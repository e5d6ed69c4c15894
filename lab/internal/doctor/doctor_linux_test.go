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
	const cpu, clock = "sys/devices/system/cpu/", "sys/devices/system/clocksource/clocksource0/"
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
		{"a steady clock", tree{cpu + "cpu0/cpufreq/scaling_governor": "performance", cpu + "cpufreq/boost": "0"}, Machine.frequency,
			Good, "scaling_governor is performance, boost is 0", ""},
		{"two governors", tree{cpu + "cpu0/cpufreq/scaling_governor": "performance", cpu + "cpu3/cpufreq/scaling_governor": "powersave"},
			Machine.frequency, Limit, "performance or powersave", "echo performance | sudo tee"},
		{"Intel's turbo", tree{cpu + "intel_pstate/no_turbo": "0"}, Machine.frequency, Limit, "no_turbo is 0", "echo 1 | sudo tee"},
		{"a slow clock", tree{clock + "current_clocksource": "hpet", clock + "available_clocksource": "hpet tsc"}, Machine.clock, Limit,
			"hpet", "echo tsc | sudo tee"},
		{"a fast clock", tree{clock + "current_clocksource": "tsc"}, Machine.clock, Good, "tsc", ""},
		{"threads of others", tree{cpu + "cpu1/topology/thread_siblings_list": "1,5"}, Machine.siblings, Limit, "5", "cpuset"},
		{"threads apart", tree{cpu + "cpu1/topology/thread_siblings_list": "0-1"}, Machine.siblings, Good, "its own", ""},
		{"cores", tree{cpu + "online": "0-7"}, Machine.division, Good, "4 of the machine's 8", ""},

		{"no quota", tree{"proc/self/cgroup": "0::/a", "sys/fs/cgroup/a/cpu.max": "max 100000"}, Machine.quota, Good, "none", ""},
		{"a quota", tree{"proc/self/cgroup": "0::/a/b", "sys/fs/cgroup/a/b/cpu.max": "max 100000",
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
		if slices.Contains([]string{"SMT", "frequency", "clock", "wire"}, f.About) {
			t.Errorf("nothing shown: %+v", f)
		}
	}
}

func TestThisMachine(t *testing.T) {
	all := map[string]Finding{}
	for _, f := range (Machine{Allowed: []int{0}, Wire: wire.Try, Clone: t.TempDir()}).Findings() {
		if all[f.About].Seen != "" || f.Seen == "" || (f.Level == Good) != (f.Means == "") {
			t.Errorf("%+v", f)
		}
		all[f.About] = f
	}
	if all["cores"].Seen == "" || all["wire"].Seen == "" {
		t.Errorf("%+v", all)
	}
	expect(t, "server", all["fiber_server"], Fault, "missing", "make build")
	for _, f := range (Machine{Allowed: []int{0}}).Findings() { // without a clone of the journal
		if f.Level == Fault || f.About == "wire" || strings.Contains(f.Means, "claim") {
			t.Errorf("%+v", f)
		}
	}
}

func TestAReportFitsItsColumns(t *testing.T) {
	long, command := strings.TrimSpace(strings.Repeat("word ", 60)), "echo "+strings.Repeat("x", 120)
	var b strings.Builder
	err := Print(&b, []Finding{{Level: Good, About: "swap", Seen: "none"}, {Limit, "open files", long, long, command},
		{Level: Fault, About: "event producer", Seen: "missing"}})
	lines := strings.Split(b.String(), "\n")
	for _, l := range lines {
		if len(l) > widest && !strings.Contains(l, command) || strings.TrimRight(l, " ") != l {
			t.Errorf("%d columns: %q", len(l), l)
		}
	}
	if err != nil || !strings.HasPrefix(lines[0], "fault  event producer  missing") || !strings.HasPrefix(lines[1], "limit  open files") ||
		strings.Count(b.String(), "word") != 120 || !strings.Contains(b.String(), "to mend it: "+command+"\n") ||
		!strings.HasPrefix(lines[len(lines)-2], "ok     swap            none") {
		t.Error(err, b.String())
	}
}
