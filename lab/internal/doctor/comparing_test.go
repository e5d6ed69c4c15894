package doctor

import (
	"slices"
	"strings"
	"testing"
)

// about is the finding of a name.
func about(t *testing.T, fs []Finding, name string) Finding {
	t.Helper()
	i := slices.IndexFunc(fs, func(f Finding) bool { return f.About == name })
	if i < 0 {
		t.Fatalf("nothing about %s in %+v", name, fs)
	}
	return fs[i]
}

func TestWhatAComparisonCannotDoHasAWayOut(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // no perf
	m := madeUp(t, tree{"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave"})
	fs := m.Comparing()
	for _, f := range fs {
		if strings.Contains(f.Means, "claim") || strings.HasSuffix(f.Means, ": ") {
			t.Errorf("%s speaks of the journal: %s", f.About, f.Means)
		}
	}
	for name, mend := range map[string]string{"governor": "echo performance", "cgroups": "mount the control groups"} {
		if f := about(t, fs, name); f.Level != Limit || !strings.Contains(f.Mend, mend) {
			t.Errorf("%+v, want %q", f, mend)
		}
	}
	if f := about(t, fs, "perf"); f.Level != Limit || !strings.Contains(f.Seen, "apt-get install") {
		t.Errorf("%+v", f)
	}
}

func TestControlGroupsOfBothVersionsAreSeen(t *testing.T) {
	for file, seen := range map[string]string{"cgroup.controllers": "version 2", "cpuacct/tasks": "version 1"} {
		m := madeUp(t, tree{"sys/fs/cgroup/" + file: ""})
		if f := m.groups(); f.Level != Good || !strings.HasPrefix(f.Seen, seen) {
			t.Errorf("%s: %+v", file, f)
		}
	}
}
