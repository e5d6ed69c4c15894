package machine

import (
	"maps"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// controlGroups holds invented files, as the kernel would show them. None is from a real machine.
type controlGroups map[string]string

func (tr controlGroups) read(t *testing.T, processes ...string) Quota {
	t.Helper()
	all := maps.Clone(tree(tr))
	for name := range tr {
		if mount, _, ok := strings.Cut(name, "/"); ok && mount == "cg" {
			all["cg/cgroup.procs"] = ""
		}
		if strings.HasPrefix(name, "cg/cpu/") {
			all["cg/cpu/cgroup.procs"] = ""
		}
	}
	dir := all.write(t)
	return ReadQuota(filepath.Join(dir, "proc"), filepath.Join(dir, "cg"), processes...)
}

func TestGroupsAreReadUpToTheTop(t *testing.T) {
	none := math.Inf(1)
	for _, c := range []struct {
		name string
		tree controlGroups
		want Quota
	}{
		{"version 2, no quota in any group", controlGroups{"proc/self/cgroup": "0::/a/b", "cg/cgroup.controllers": "cpu",
			"cg/a/cpu.max": "max 100000", "cg/a/b/cpu.max": "max 100000",
			"cg/a/b/cpu.stat": "usage_usec 1\nnr_throttled 0\nthrottled_usec 0"},
			Quota{Cores: none, Seen: true}},
		{"version 2, a quota two groups above", controlGroups{"proc/self/cgroup": "0::/a/b/c",
			"cg/a/cpu.max": "150000 100000", "cg/a/cpu.stat": "nr_throttled 7\nthrottled_usec 9000",
			"cg/a/b/cpu.max": "max 100000", "cg/a/b/c/cpu.max": "max 100000",
			"cg/a/b/c/cpu.stat": "nr_throttled 0\nthrottled_usec 0"},
			Quota{Cores: 1.5, Held: 9 * time.Millisecond, Seen: true}},
		{"version 2, each group that held it counts", controlGroups{"proc/self/cgroup": "0::/a/b",
			"cg/a/cpu.max": "150000 100000", "cg/a/cpu.stat": "nr_throttled 1\nthrottled_usec 10",
			"cg/a/b/cpu.max": "100000 100000", "cg/a/b/cpu.stat": "nr_throttled 2\nthrottled_usec 20"},
			Quota{Cores: 1, Held: 30 * time.Microsecond, Seen: true}},
		{"version 2, at the top of the machine",
			controlGroups{"proc/self/cgroup": "0::/", "cg/cgroup.controllers": "cpu", "cg/cpu.stat": "usage_usec 9"},
			Quota{Cores: none, Seen: true}},
		{"version 2, at the top of a container without limits",
			controlGroups{"proc/self/cgroup": "0::/", "cg/cgroup.controllers": "memory", "cg/cpu.stat": "usage_usec 9"},
			Quota{Cores: none, Seen: true}},

		{"version 1, no quota", controlGroups{"proc/self/cgroup": "5:memory:/x\n4:cpu,cpuacct:/",
			"cg/cpu/cpu.cfs_quota_us": "-1", "cg/cpu/cpu.cfs_period_us": "100000",
			"cg/cpu/cpu.stat": "nr_periods 0\nnr_throttled 0\nthrottled_time 0"}, Quota{Cores: none, Seen: true}},
		{"version 1, a quota of the group above",
			controlGroups{"proc/self/cgroup": "4:cpu:/x/y\n0::/", "cg/cpu/x/cpu.cfs_quota_us": "200000",
				"cg/cpu/x/cpu.cfs_period_us":  "100000",
				"cg/cpu/x/cpu.stat":           "nr_periods 8\nnr_throttled 2\nthrottled_time 2500",
				"cg/cpu/x/y/cpu.cfs_quota_us": "-1", "cg/cpu/x/y/cpu.cfs_period_us": "100000"},
			Quota{Cores: 2, Held: 2500, Seen: true}},
		{"version 1, of a kernel without quotas", controlGroups{"proc/self/cgroup": "4:cpu:/", "cg/cpu/cpu.shares": "1024"},
			Quota{Cores: none, Seen: true}},

		{"both, and the one that limits is not shown",
			controlGroups{"proc/self/cgroup": "1:cpu:/x\n0::/", "cg/unified/cgroup.controllers": "",
				"cg/unified/cpu.stat": "usage_usec 2"},
			Quota{Cores: none}},

		{"no groups are shown", controlGroups{"proc/self/cgroup": "0::/a"}, Quota{Cores: none}},
		{"no process is shown", controlGroups{"cg/cgroup.controllers": "cpu"}, Quota{Cores: none}},
	} {
		if got := c.tree.read(t, "self"); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// Server and client may be in groups of their own and share all groups above.
func TestTheGroupsOfSeveralProcesses(t *testing.T) {
	tr := controlGroups{
		"proc/self/cgroup": "0::/a/lab", "proc/7/cgroup": "0::/a/server", "proc/8/cgroup": "0::/a/client",
		"cg/cgroup.controllers": "cpu",
		"cg/a/cpu.max":          "300000 100000", "cg/a/cpu.stat": "nr_throttled 1\nthrottled_usec 1",
		"cg/a/lab/cpu.max":    "max 100000",
		"cg/a/server/cpu.max": "100000 100000", "cg/a/server/cpu.stat": "nr_throttled 10\nthrottled_usec 10",
		"cg/a/client/cpu.max": "200000 100000", "cg/a/client/cpu.stat": "nr_throttled 100\nthrottled_usec 100",
	}
	for _, c := range []struct {
		processes []string
		want      Quota
	}{
		{[]string{"self"}, Quota{Cores: 3, Held: time.Microsecond, Seen: true}},
		{[]string{"self", "7"}, Quota{Cores: 1, Held: 11 * time.Microsecond, Seen: true}},
		{[]string{"self", "7", "8", "8"}, Quota{Cores: 1, Held: 111 * time.Microsecond, Seen: true}},
		{[]string{"self", "9"}, Quota{Cores: 3, Held: time.Microsecond, Seen: true}}, // 9 has ended
		{[]string{"9"}, Quota{Cores: math.Inf(1)}},
	} {
		if got := tr.read(t, c.processes...); got != c.want {
			t.Errorf("%v: %+v, want %+v", c.processes, got, c.want)
		}
	}
	// If one process's groups cannot be read, the quota is unknown.
	tr["proc/8/cgroup"] = "1:cpu:/elsewhere"
	if got := tr.read(t, "self", "8"); got.Seen {
		t.Errorf("%+v", got)
	}
}

func TestRunTimeGoesOnWhileSomethingRuns(t *testing.T) {
	cpus, err := Allowed()
	before, ok := RunTime(cpus)
	if err != nil || !ok {
		t.Skip("this kernel does not tell", err)
	}
	for began := time.Now(); time.Since(began) < 200*time.Millisecond; {
	}
	if after, _ := RunTime(cpus); after-before < 50*time.Millisecond || after-before > time.Duration(len(cpus))*time.Second {
		t.Errorf("something ran for %v", after-before)
	}
	for _, none := range [][]int{nil, {1 << 16}, append([]int{1 << 16}, cpus...)} {
		if _, ok := RunTime(none); ok {
			t.Errorf("%v ran", none)
		}
	}
}
