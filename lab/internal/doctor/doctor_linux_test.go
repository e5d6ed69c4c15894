package doctor

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/machine"
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

func find(t *testing.T, fs []Finding, about string) Finding {
	t.Helper()
	for _, f := range fs {
		if f.About == about {
			return f
		}
	}
	t.Fatalf("nothing about %s in %+v", about, fs)
	return Finding{}
}

func TestSettingsOfMachines(t *testing.T) {
	const cpu, clock = "sys/devices/system/cpu/", "sys/devices/system/clocksource/clocksource0/"
	denied := func(why string) func(Machine) (seen, means, mend string) {
		return func(m Machine) (seen, means, mend string) { return m.wireless(errors.New(why)) }
	}
	none := denied("no namespaces")
	for _, c := range []struct {
		name       string
		tree       tree
		see        func(Machine) (seen, means, mend string)
		level      Level
		seen, mend string
	}{
		{"files", tree{"proc/self/limits": "Max open files  1024  524288  files"}, Machine.files, Good, "524288", ""},
		{"few files", tree{"proc/self/limits": "Max open files  64  100  files"}, Machine.files, Limit, "100", "--nofile=8192:8192"},
		{"unlimited files", tree{"proc/self/limits": "Max open files  unlimited  unlimited  files"}, Machine.files, Good, "", ""},
		{"few ports", tree{"proc/sys/net/ipv4/ip_local_port_range": "40000 40009"}, Machine.ports, Limit, "10 conn", "10240 65000"},
		{"a short queue", tree{"proc/sys/net/core/somaxconn": "128"}, Machine.queue, Limit, "128", "=4096"},
		{"a long queue", tree{"proc/sys/net/core/somaxconn": "4096"}, Machine.queue, Good, "4096", ""},

		{"a governor of performance", tree{cpu + "cpu0/cpufreq/scaling_governor": "performance"}, Machine.governor, Good, "perf", ""},
		{"two governors", tree{cpu + "cpu0/cpufreq/scaling_governor": "performance", cpu + "cpu3/cpufreq/scaling_governor": "powersave"},
			Machine.governor, Limit, "performance, powersave", "tee"},
		{"Intel's turbo", tree{cpu + "intel_pstate/no_turbo": "0"}, Machine.turbo, Limit, "on", "echo 1 | sudo tee"},
		{"AMD's boost off", tree{cpu + "cpufreq/boost": "0"}, Machine.turbo, Good, "off", ""},
		{"a slow clock", tree{clock + "current_clocksource": "hpet", clock + "available_clocksource": "hpet tsc"}, Machine.clock, Limit,
			"hpet", "echo tsc | sudo tee"},
		{"a fast clock", tree{clock + "current_clocksource": "tsc"}, Machine.clock, Good, "tsc", ""},
		{"threads on both sides", tree{cpu + "cpu1/topology/thread_siblings_list": "1-2"}, Machine.siblings, Limit, "1 and 2", "off"},
		{"threads of others", tree{cpu + "cpu1/topology/thread_siblings_list": "1,5"}, Machine.siblings, Limit, "5", "cpuset"},
		{"threads apart", tree{cpu + "cpu1/topology/thread_siblings_list": "0-1"}, Machine.siblings, Good, "no core", ""},
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
		expect(t, c.name, madeUp(t, c.tree).see([]look{{"it", c.see}})[0], c.level, c.seen, c.mend)
	}
	// What a machine does not show is no limit.
	for _, f := range madeUp(t, nil).see([]look{{"a", Machine.files}, {"b", Machine.ports}, {"c", Machine.queue},
		{"e", Machine.governor}, {"f", Machine.turbo}, {"g", Machine.clock}, {"h", Machine.siblings}}) {
		expect(t, "nothing shown", f, Good, "not ", "")
	}
}

func TestDisturbancesAreNamed(t *testing.T) {
	quiet := map[string]float64{"server_steal": 0, "server_foreign_load": 0.01, "throttled_s": 0, "swap_pages": 0}
	for _, f := range disturbances(machine.Window{Metrics: quiet}) {
		expect(t, "quiet", f, Good, "none", "")
	}
	for _, f := range disturbances(machine.Window{}) {
		expect(t, "not seen", f, Good, "not shown", "")
	}
	fs := disturbances(machine.Window{Metrics: map[string]float64{"server_steal": 0.04, "server_foreign_load": 0.55, "throttled_s": 0.2,
		"swap_pages": 6}, Others: []machine.Load{{Name: "postgres", Cores: 0.45}, {Name: "idler", Cores: 0.001}}})
	for about, seen := range map[string]string{"steal": "4.0 %", "other load": "0.55 of a core: postgres 0.45",
		"throttling": "0.200 s", "swapping": "6 pages"} {
		f := find(t, fs, about)
		expect(t, about, f, Limit, seen, "")
		if strings.Contains(f.Seen, "idler") {
			t.Error(f.Seen)
		}
	}
}

func TestThisMachine(t *testing.T) {
	root, ticks := t.TempDir(), 0
	m := Machine{Allowed: []int{0}, Watch: time.Millisecond, Wire: wire.Try, Tick: func(time.Duration) { ticks++ }}
	for name, fs := range map[string][]Finding{"journal": m.Journal(root), "comparison": m.Comparison()} {
		seen := map[string]bool{}
		for _, f := range fs {
			if seen[f.About] || f.About == "" || f.Seen == "" || (f.Level == Good) != (f.Means == "") {
				t.Errorf("%s: %+v", name, f)
			}
			seen[f.About] = true
			if name == "comparison" && strings.Contains(f.Means, "claim") {
				t.Errorf("%s speaks of the journal: %s", f.About, f.Means)
			}
		}
		if !seen["cores"] || seen["wire"] != (name == "journal") {
			t.Errorf("%s: %+v", name, fs)
		}
	}
	if ticks == 0 {
		t.Error("nobody was told of the watch")
	}
	expect(t, "server", find(t, programs(root), "server"), Fault, "missing", "make build")
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
