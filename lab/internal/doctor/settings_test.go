package doctor

import (
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/experiment"
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
		bars              string
	}{
		{"files for all", limits("1024", "524288"), Machine.openFiles, Good, "hard limit 524288", "", "", ""},
		{"files for the smaller experiment", limits("512", "1000"), Machine.openFiles, Limit, "hard limit 1000",
			"1000 connections do not fit", "--nofile=2000:2000",
			"near/threads near/more-cores near/at-the-wall"},
		{"files for none", limits("64", "100"), Machine.openFiles, Limit, "", "every claim", "prlimit",
			"far/threads far/cost near/threads near/more-cores near/at-the-wall"},
		{"files not shown", nil, Machine.openFiles, Good, "no limit is shown", "", "", ""},
		{"files unlimited", limits("unlimited", "unlimited"), Machine.openFiles, Good, "no limit", "", "", ""},

		{"ports for all", sysctls("net/ipv4/ip_local_port_range", "32768\t60999"), Machine.ports, Good, "28232", "", "", ""},
		// The wire has a port range of its own.
		{"ports for no loopback", sysctls("net/ipv4/ip_local_port_range", "40000 40009"), Machine.ports, Limit,
			"10 connections", "near", "sysctl -w net.ipv4.ip_local_port_range=",
			"near/threads near/more-cores near/at-the-wall"},
		{"ports not shown", nil, Machine.ports, Good, "not shown", "", "", ""},

		{"a short accept queue", sysctls("net/core/somaxconn", "128"), Machine.acceptQueue, Limit, "128", "near",
			"net.core.somaxconn=2000", ""},
		{"a long accept queue", sysctls("net/core/somaxconn", "4096"), Machine.acceptQueue, Good, "4096", "", "", ""},
		{"SYN cookies", sysctls("net/ipv4/tcp_max_syn_backlog", "128", "net/ipv4/tcp_syncookies", "1"), Machine.synQueue,
			Good, "does not bind", "", "", ""},
		{"no SYN cookies", sysctls("net/ipv4/tcp_max_syn_backlog", "1024", "net/ipv4/tcp_syncookies", "0"), Machine.synQueue,
			Limit, "1024", "near", "=2000", ""},

		{"a governor of performance", tree{cpu + "cpu0/cpufreq/scaling_governor": "performance"}, Machine.governor, Good,
			"performance", "", "", ""},
		{"two governors", tree{cpu + "cpu0/cpufreq/scaling_governor": "performance", cpu +
			"cpu3/cpufreq/scaling_governor": "powersave"}, Machine.governor,
			Limit, "performance, powersave", "far (cost), near (more-cores)", "tee", ""},
		{"a governor of a core that is not ours", tree{cpu + "cpu9/cpufreq/scaling_governor": "powersave"}, Machine.governor,
			Good, "not visible", "", "", ""},
		{"Intel's turbo", tree{cpu + "intel_pstate/no_turbo": "0"}, Machine.turbo, Limit, "on", "near (more-cores)",
			"echo 1 | sudo tee", ""},
		{"Intel's turbo off", tree{cpu + "intel_pstate/no_turbo": "1"}, Machine.turbo, Good, "off", "", "", ""},
		{"AMD's boost", tree{cpu + "cpufreq/boost": "1"}, Machine.turbo, Limit, "on", "far (cost)", "echo 0 | sudo tee", ""},
		{"no turbo to be seen", nil, Machine.turbo, Good, "not visible", "", "", ""},

		{"a clock without system calls", clock("tsc"), Machine.clock, Good, "tsc", "", "", ""},
		{"a clock with system calls", clock("hpet"), Machine.clock, Limit, "hpet", "far (cost)", "echo tsc | sudo tee", ""},
		{"no clock shown", nil, Machine.clock, Good, "not shown", "", "", ""},
		{"times of threads", tree{"proc/self/schedstat": "821153 100964 2"}, Machine.schedstat, Good, "of threads", "", "",
			""},
		{"no times of threads", nil, Machine.schedstat, Limit, "no schedstat", "near (at-the-wall)", "", ""},
		{"noughts", tree{"proc/self/schedstat": "0 0 0"}, Machine.schedstat, Limit, "no schedstat", "near (at-the-wall)",
			"task_delayacct=1", ""},

		{"threads apart", tree{cpu + "cpu0/topology/thread_siblings_list": "0-1", cpu +
			"cpu1/topology/thread_siblings_list": "0-1"}, Machine.siblings, Good, "no core", "", "", ""},
		{"threads on both sides", tree{cpu + "cpu1/topology/thread_siblings_list": "1-2"}, Machine.siblings, Limit, "1 and 2",
			"near (more-cores)", "echo off", ""},
		{"threads of others", tree{cpu + "cpu1/topology/thread_siblings_list": "1,5"}, Machine.siblings, Limit, "5",
			"near (more-cores)", "cpuset", ""},
		{"no topology", nil, Machine.siblings, Good, "not visible", "", "", ""},

		{"much memory", tree{"proc/meminfo": "MemTotal: 9000000 kB\nMemAvailable: 8388608 kB"}, Machine.memory, Good,
			"8.0 GiB", "", "", ""},
		{"little memory", tree{"proc/meminfo": "MemTotal: 9000000 kB\nMemAvailable: 102400 kB"}, Machine.memory, Limit,
			"100 MiB", "every claim", "ps ", ""},
	} {
		f := c.find(madeUp(t, c.tree))
		expect(t, c.name, f, c.level, c.seen, c.means, c.mend)
		if got := bars(f); got != c.bars {
			t.Errorf("%s: bars %q, want %q", c.name, got, c.bars)
		}
	}
}

func TestCoresSayWhichClaimsTheyBear(t *testing.T) {
	m := madeUp(t, tree{"sys/devices/system/cpu/online": "0-3"})
	expect(t, "four", m.division(), Good, "4: server on 0-1, client on 2-3", "", "")

	m.Split, m.Allowed = cores.Split{Server: []int{0}, Client: []int{1}}, []int{0, 1}
	f := m.division()
	expect(t, "two of four", f, Limit, "2 of the machine's 4 are allowed",
		"not applicable: 4 cores are needed by near (more-cores)", "taskset")
	if bars(f) != "near/more-cores" {
		t.Errorf("two of four: %q", bars(f))
	}

	// Each claim is judged by its own needs: a design that needs 128 cores does
	// not affect one that needs four.
	all := m.Experiments
	large, err := experiment.Parse("large", []byte("entry = \"3\"\ntitle = \"t\"\nquestion = \"q\"\n"+
		strings.Replace(strings.Replace(rest, "MOST", "100", 1), "[settings]",
			"[settings]\nserver_cpus = \"0-126\"\nirq = \"pinned\"", 1)+
		"[topology]\nkind = \"fleet\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	m.Experiments = append(slices.Clone(all), large)
	f = m.division()
	expect(t, "beside a larger design", f, Limit, "2 of",
		"not applicable: 4 cores are needed by near (more-cores); 128 by large", "taskset")
	if bars(f) != "near/more-cores large/threads" {
		t.Errorf("beside a larger design: %q", bars(f))
	}
	// A machine of that size still cannot load itself from a second one.
	expect(t, "machines", m.machines(), Limit, "this one",
		"not applicable: large", "")
	m.Experiments = all
	expect(t, "machines", m.machines(), Good, "this one", "", "")

	m.Split, m.Allowed = cores.Split{}, []int{0}
	f = m.division()
	expect(t, "one", f, Limit, "one core", "near (more-cores, at-the-wall)", "")
	if bars(f) != "near/more-cores near/at-the-wall" {
		t.Errorf("one: %q", bars(f))
	}
}

// The groups are made up; a hybrid machine has versions 1 and 2 at once.
func TestTheQuotaIsTheLeastOfAllGroupsAbove(t *testing.T) {
	for _, c := range []struct {
		name  string
		tree  tree
		level Level
		seen  string
		bars  string
	}{
		{"version 2, none", tree{"proc/self/cgroup": "0::/a/b", "sys/fs/cgroup/a/b/cpu.max": "max 100000"}, Good, "none", ""},
		{"version 2, of the group above", tree{"proc/self/cgroup": "0::/a/b", "sys/fs/cgroup/a/b/cpu.max": "max 100000",
			"sys/fs/cgroup/a/cpu.max":  "150000 100000",
			"sys/fs/cgroup/a/cpu.stat": "usage_usec 5\nnr_periods 9\nnr_throttled 7\nthrottled_usec 1"},
			Limit, "1.5 cores, used up in 7 periods", "near/more-cores"},
		{"version 2, more than there is", tree{"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "800000 100000",
			"sys/fs/cgroup/cpu.stat": "nr_throttled 0\nthrottled_usec 0"}, Good, "8 cores", ""},
		{"version 1", tree{"proc/self/cgroup": "5:memory:/x\n4:cpu,cpuacct:/x\n0::/",
			"sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us":  "200000",
			"sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us": "100000",
			"sys/fs/cgroup/cpu,cpuacct/x/cpu.stat":          "nr_periods 4\nnr_throttled 3\nthrottled_time 9"}, Limit,
			"2 cores, used up in 3", "near/more-cores"},
		{"version 1, none", tree{"proc/self/cgroup": "4:cpu:/", "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1",
			"sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000"}, Good, "none", ""},
		{"not shown", nil, Limit, "not shown", ""},
	} {
		f := madeUp(t, c.tree).quota()
		if f.Level != c.level || !strings.Contains(f.Seen, c.seen) || bars(f) != c.bars ||
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
