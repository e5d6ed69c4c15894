package machine

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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

// write makes a directory with the files.
func (tr tree) write(t *testing.T) string {
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
	return dir
}

// madeUp is a machine of four cores that shows only the tree's files, below proc/ and sys/.
func madeUp(t *testing.T, tr tree) doctor {
	return doctor{root: tr.write(t), split: Split{Server: []int{0, 1}, Client: []int{2, 3}}}
}

func TestSettingsOfMachines(t *testing.T) {
	const cpu = "sys/devices/system/cpu/"
	denied := func(why string) func(doctor) (seen, means, mend string) {
		return func(d doctor) (seen, means, mend string) {
			d.try = func() error { return errors.New(why) }
			return d.wire()
		}
	}
	none := denied("no namespaces")
	for _, c := range []struct {
		name       string
		tree       tree
		see        func(doctor) (seen, means, mend string)
		limits     bool
		seen, mend string
	}{
		{"a governor of performance", tree{cpu + "cpu0/cpufreq/scaling_governor": "performance"}, doctor.frequency, false, "perf", ""},
		{"another governor", tree{cpu + "cpu0/cpufreq/scaling_governor": "powersave"}, doctor.frequency, true, "powersave", "tee"},
		{"cores", tree{cpu + "online": "0-7"}, doctor.cores, false, "4 of the machine's 8", ""},

		{"no quota", tree{"proc/self/cgroup": "0::/a", "sys/fs/cgroup/cgroup.procs": "", "sys/fs/cgroup/a/cpu.max": "max 100000"}, doctor.quota, false, "none", ""},
		{"a quota", tree{"proc/self/cgroup": "0::/a/b", "sys/fs/cgroup/cgroup.procs": "", "sys/fs/cgroup/a/b/cpu.max": "max 100000",
			"sys/fs/cgroup/a/cpu.max": "150000 100000", "sys/fs/cgroup/a/cpu.stat": "nr_throttled 7\nthrottled_usec 1"},
			doctor.quota, true, "1.5 cores", "without a CPU limit"},
		{"no control groups", nil, doctor.quota, true, "not shown", "mount"},

		{"Ubuntu", tree{"proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1"}, none, true, "userns=1", "userns=0"},
		{"two denials", tree{"proc/sys/user/max_user_namespaces": "0", "proc/sys/kernel/unprivileged_userns_clone": "0"}, none,
			true, "clone=0, user.max", " && "},
		{"a container", nil, none, true, "no namespaces", "--privileged"},
		{"no tbf", nil, denied("no shaper (sch_tbf)"), true, "tbf", "modprobe"},
	} {
		seen, means, mend := c.see(madeUp(t, c.tree))
		if (means != "") != c.limits || !strings.Contains(seen, c.seen) || !strings.Contains(mend, c.mend) {
			t.Errorf("%s: %q, %q, %q", c.name, seen, means, mend)
		}
	}
	// What a machine does not show has no line.
	for _, f := range madeUp(t, nil).findings() {
		if slices.Contains([]string{"frequency", "wire"}, f.About) {
			t.Errorf("nothing shown: %+v", f)
		}
	}
}

func TestThisMachine(t *testing.T) {
	for _, try := range []func() error{wire.Try, nil} {
		all, err := Examine(try)
		seen := map[string]bool{}
		for _, f := range all {
			if seen[f.About] || f.Seen == "" {
				t.Errorf("%+v", f)
			}
			if seen[f.About] = true; try == nil && strings.Contains(f.Means, "claim") {
				t.Errorf("without a wire, %s speaks of the journal: %s", f.About, f.Means)
			}
		}
		if err != nil || !seen["cores"] || seen["wire"] != (try != nil) {
			t.Errorf("%v, %v", seen, err)
		}
	}
}

func TestLimitsArePrintedFirst(t *testing.T) {
	var b strings.Builder
	err := Print(&b, []Finding{{About: "perf", Seen: "may sample"}, {"wire", "none", "no claims", "sudo x"}})
	const want = `limit  wire            none
                       no claims
                       to mend it: sudo x
ok     perf            may sample
`
	if err != nil || b.String() != want {
		t.Error(err, b.String())
	}
}
