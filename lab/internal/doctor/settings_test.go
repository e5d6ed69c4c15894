package doctor

import (
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/cores"
)

func limits(soft, hard string) tree {
	return tree{"proc/self/limits": "Limit                     Soft Limit           Hard Limit           Units\n" +
		"Max processes             1                    2                    processes\n" +
		"Max open files            " + soft + "                 " + hard + "               files"}
}

func sysctls(pairs ...string) tree {
	tr := tree{}
	for i := 0; i < len(pairs); i += 2 {
		tr["proc/sys/"+pairs[i]] = pairs[i+1]
	}
	return tr
}

// All machines here are made up.
func TestSettingsAreHeldAgainstTheExperiments(t *testing.T) {
	const cpu = "sys/devices/system/cpu/"
	clock := func(current string) tree {
		return tree{
			"sys/devices/system/clocksource/clocksource0/current_clocksource":   current,
			"sys/devices/system/clocksource/clocksource0/available_clocksource": "hpet tsc acpi_pm",
		}
	}
	for _, c := range []struct {
		name              string
		tree              tree
		find              func(Machine) Finding
		level             Level
		seen, means, mend string
		bars              bool
	}{
		{"files for all", limits("1024", "524288"), Machine.openFiles, Good, "hard limit 524288", "", "", false},
		{"files for the smaller experiment", limits("512", "1000"), Machine.openFiles, Limit, "hard limit 1000",
			"1000 connections do not fit", "--nofile=2000:2000",
			true},
		{"files for none", limits("64", "100"), Machine.openFiles, Limit, "", "", "prlimit",
			true},
		{"files not shown", nil, Machine.openFiles, Good, "no limit is shown", "", "", false},
		{"files unlimited", limits("unlimited", "unlimited"), Machine.openFiles, Good, "no limit", "", "", false},

		{"ports for all", sysctls("net/ipv4/ip_local_port_range", "32768\t60999"), Machine.ports, Good, "28232", "", "", false},
		// The wire has a port range of its own.
		{"ports for no loopback", sysctls("net/ipv4/ip_local_port_range", "40000 40009"), Machine.ports, Limit,
			"10 connections", "", "sysctl -w net.ipv4.ip_local_port_range=",
			true},
		{"ports not shown", nil, Machine.ports, Good, "not shown", "", "", false},

		{"a short accept queue", sysctls("net/core/somaxconn", "128"), Machine.acceptQueue, Limit, "128", "",
			"net.core.somaxconn=2000", false},
		{"a long accept queue", sysctls("net/core/somaxconn", "4096"), Machine.acceptQueue, Good, "4096", "", "", false},
		{"SYN cookies", sysctls("net/ipv4/tcp_max_syn_backlog", "128", "net/ipv4/tcp_syncookies", "1"), Machine.synQueue,
			Good, "does not bind", "", "", false},
		{"no SYN cookies", sysctls("net/ipv4/tcp_max_syn_backlog", "1024", "net/ipv4/tcp_syncookies", "0"), Machine.synQueue,
			Limit, "1024", "", "=2000", false},

		{"a governor of performance", tree{cpu + "cpu0/cpufreq/scaling_governor": "performance"}, Machine.governor, Good,
			"performance", "", "", false},
		{"two governors", tree{cpu + "cpu0/cpufreq/scaling_governor": "performance", cpu +
			"cpu3/cpufreq/scaling_governor": "powersave"}, Machine.governor,
			Limit, "performance, powersave", "", "tee", false},
		{"a governor of a core that is not ours", tree{cpu + "cpu9/cpufreq/scaling_governor": "powersave"}, Machine.governor,
			Good, "not visible", "", "", false},
		{"Intel's turbo", tree{cpu + "intel_pstate/no_turbo": "0"}, Machine.turbo, Limit, "on", "",
			"echo 1 | sudo tee", false},
		{"Intel's turbo off", tree{cpu + "intel_pstate/no_turbo": "1"}, Machine.turbo, Good, "off", "", "", false},
		{"AMD's boost", tree{cpu + "cpufreq/boost": "1"}, Machine.turbo, Limit, "on", "", "echo 0 | sudo tee", false},
		{"no turbo to be seen", nil, Machine.turbo, Good, "not visible", "", "", false},

		{"a clock without system calls", clock("tsc"), Machine.clock, Good, "tsc", "", "", false},
		{"a clock with system calls", clock("hpet"), Machine.clock, Limit, "hpet", "", "echo tsc | sudo tee", false},
		{"no clock shown", nil, Machine.clock, Good, "not shown", "", "", false},
		{"times of threads", tree{"proc/self/schedstat": "821153 100964 2"}, Machine.schedstat, Good, "of threads", "", "",
			false},
		{"no times of threads", nil, Machine.schedstat, Limit, "no schedstat", "", "", false},
		{"noughts", tree{"proc/self/schedstat": "0 0 0"}, Machine.schedstat, Limit, "no schedstat", "",
			"task_delayacct=1", false},

		{"threads apart", tree{cpu + "cpu0/topology/thread_siblings_list": "0-1", cpu +
			"cpu1/topology/thread_siblings_list": "0-1"}, Machine.siblings, Good, "no core", "", "", false},
		{"threads on both sides", tree{cpu + "cpu1/topology/thread_siblings_list": "1-2"}, Machine.siblings, Limit, "1 and 2",
			"", "echo off", false},
		{"threads of others", tree{cpu + "cpu1/topology/thread_siblings_list": "1,5"}, Machine.siblings, Limit, "5",
			"", "cpuset", false},
		{"no topology", nil, Machine.siblings, Good, "not visible", "", "", false},

		{"much memory", tree{"proc/meminfo": "MemTotal: 9000000 kB\nMemAvailable: 8388608 kB"}, Machine.memory, Good,
			"8.0 GiB", "", "", false},
		{"little memory", tree{"proc/meminfo": "MemTotal: 9000000 kB\nMemAvailable: 102400 kB"}, Machine.memory, Limit,
			"100 MiB", "", "ps ", false},
	} {
		f := c.find(madeUp(t, c.tree))
		expect(t, c.name, f, c.level, c.seen, c.means, c.mend)
		if f.Bars != c.bars {
			t.Errorf("%s: bars claims %v, want %v", c.name, f.Bars, c.bars)
		}
	}
}

func TestCoresSayWhetherClaimsNeedMore(t *testing.T) {
	m := madeUp(t, tree{"sys/devices/system/cpu/online": "0-3"})
	expect(t, "four", m.division(), Good, "4: server on 0-1, client on 2-3", "", "")
	expect(t, "machines", m.machines(), Good, "this one", "", "")
	m.Split, m.Allowed = cores.Split{Server: []int{0}, Client: []int{1}}, []int{0, 1}
	expect(t, "two of four", m.division(), Limit, "2 of the machine's 4 are allowed", "the most asked for is 4", "taskset")
	m.Split, m.Allowed = cores.Split{}, []int{0}
	expect(t, "one", m.division(), Limit, "one core", "each disturbs the other", "")
}

// The groups are made up; a hybrid machine has versions 1 and 2 at once.
func TestTheQuotaIsTheLeastOfAllGroupsAbove(t *testing.T) {
	for _, c := range []struct {
		name  string
		tree  tree
		level Level
		seen  string
		bars  bool
	}{
		{"version 2, none", tree{"proc/self/cgroup": "0::/a/b", "sys/fs/cgroup/a/b/cpu.max": "max 100000"}, Good, "none", false},
		{"version 2, of the group above", tree{"proc/self/cgroup": "0::/a/b", "sys/fs/cgroup/a/b/cpu.max": "max 100000",
			"sys/fs/cgroup/a/cpu.max":  "150000 100000",
			"sys/fs/cgroup/a/cpu.stat": "usage_usec 5\nnr_periods 9\nnr_throttled 7\nthrottled_usec 1"},
			Limit, "1.5 cores, used up in 7 periods", true},
		{"version 2, more than there is", tree{"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "800000 100000",
			"sys/fs/cgroup/cpu.stat": "nr_throttled 0\nthrottled_usec 0"}, Good, "8 cores", false},
		{"version 1", tree{"proc/self/cgroup": "5:memory:/x\n4:cpu,cpuacct:/x\n0::/",
			"sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us":  "200000",
			"sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us": "100000",
			"sys/fs/cgroup/cpu,cpuacct/x/cpu.stat":          "nr_periods 4\nnr_throttled 3\nthrottled_time 9"}, Limit,
			"2 cores, used up in 3", true},
		{"version 1, none", tree{"proc/self/cgroup": "4:cpu:/", "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1",
			"sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000"}, Good, "none", false},
		{"not shown", nil, Limit, "not shown", false},
	} {
		f := madeUp(t, c.tree).quota()
		if f.Level != c.level || !strings.Contains(f.Seen, c.seen) || f.Bars != c.bars ||
			(f.Means == "") != (c.level == Good) {
			t.Errorf("%s: %+v", c.name, f)
		}
	}
}

func TestEveryDenialHasItsMend(t *testing.T) {
	for _, c := range []struct {
		name       string
		tree       tree
		work       bool
		level      Level
		seen, mend string
	}{
		{"allowed", nil, true, Good, "allowed", ""},
		{"root's own right", sysctls("kernel/unprivileged_userns_clone", "0"), true, Good,
			"kept from others by kernel.unprivileged_userns_clone=0", ""},
		{"Ubuntu", sysctls("kernel/apparmor_restrict_unprivileged_userns", "1"), false, Limit, "apparmor",
			"sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"},
		{"Debian", sysctls("kernel/unprivileged_userns_clone", "0"), false, Limit, "clone=0",
			"sudo sysctl -w kernel.unprivileged_userns_clone=1"},
		{"two of them", sysctls("user/max_user_namespaces", "0", "kernel/unprivileged_userns_clone", "0"), false, Limit,
			"clone=0, user.max", " && "},
		{"a container", sysctls("kernel/unprivileged_userns_clone", "1", "user/max_user_namespaces", "100"), false, Limit,
			"none of the settings", "--privileged"},
	} {
		f := madeUp(t, c.tree).namespaces(c.work)
		means := ""
		if c.level != Good {
			means = "wire"
		}
		expect(t, c.name, f, c.level, c.seen, means, c.mend)
	}
}

func TestTheDoctorSaysWhoTheMachineIs(t *testing.T) {
	if got := (Machine{}).identity(); got != nil {
		t.Errorf("without a name: %+v", got)
	}
	for _, c := range []struct {
		m        Machine
		has, not []string
		mend     bool
	}{
		{Machine{Hosts: []string{"me-4c"}, Made: "made from: its CPU; its machine-id"},
			[]string{"me-4c, made from: its CPU; its machine-id"}, []string{"same as", "Nothing of its own"}, false},
		{Machine{Hosts: []string{"me-4c"}, Made: "x", Alone: "it has no id"},
			[]string{"Nothing of its own tells it apart", "because it has no id"}, []string{"same parts"}, true},
		{Machine{Hosts: []string{"me-4c"}, Made: "x", Alike: "a or b"}, []string{"If it is a or b, which has the same parts"},
			[]string{"Nothing of its own"}, false},
	} {
		got := c.m.identity()
		if len(got) != 1 || got[0].Level != Good || got[0].About != "machine" || (got[0].Mend != "") != c.mend {
			t.Errorf("%+v", got)
			continue
		}
		for _, s := range c.has {
			if !strings.Contains(got[0].Seen, s) {
				t.Errorf("%q lacks %q", got[0].Seen, s)
			}
		}
		for _, s := range c.not {
			if strings.Contains(got[0].Seen, s) {
				t.Errorf("%q has %q", got[0].Seen, s)
			}
		}
	}
}
