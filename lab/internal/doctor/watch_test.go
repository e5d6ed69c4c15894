package doctor

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A made-up machine of four cores at two times five seconds apart: each core
// counts 500 ticks of a hundredth of a second.
var before = tree{
	"proc/stat":    stat([4]core{}),
	"proc/10/stat": process(10, "postgres", 100), "proc/11/stat": process(11, "postgres", 100),
	"proc/12/stat": process(12, "idler", 900),
	"proc/vmstat":  "nr_free_pages 5\npswpin 100\npswpout 40",
	"proc/swaps":   "Filename Type Size Used Priority\n/dev/sda2 partition 2097152 1024 -2",
	"sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count": "3",
	"sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count": "4",
	"proc/self/cgroup":       "0::/",
	"sys/fs/cgroup/cpu.max":  "800000 100000",
	"sys/fs/cgroup/cpu.stat": "nr_periods 9\nnr_throttled 2\nthrottled_usec 90",
}

type core struct{ user, idle, steal int }

func stat(cs [4]core) string {
	var all core
	lines := ""
	for i, c := range cs {
		all = core{all.user + c.user, all.idle + c.idle, all.steal + c.steal}
		lines += fmt.Sprintf("cpu%d %d 0 0 %d 0 0 0 %d 0 0\n", i, c.user, c.idle, c.steal)
	}
	return fmt.Sprintf("cpu %d 0 0 %d 0 0 0 %d 0 0\n%s", all.user, all.idle, all.steal, lines)
}

func process(pid int, name string, ticks int) string {
	return fmt.Sprintf("%d (%s) S 1 1 1 0 -1 4194304 0 0 0 0 %d 0 0 0 20 0 1 0 1 1 1 1 1 1 1 1 1 0 0 0 0 0 0 0 17 0 0 "+
		"0 0 0 0 0 0 0 0 0 0 0 0", pid, name, ticks)
}

// watched examines a machine whose counters change during the watch.
func watched(t *testing.T, after tree) (Machine, *watch) {
	t.Helper()
	m := madeUp(t, before)
	changed := false
	m.Watch = time.Millisecond
	m.Tick = func(time.Duration) {
		if !changed {
			after.put(t, filepath.Dir(m.Proc))
			changed = true
		}
	}
	return m, m.watch()
}

func TestAQuietMachineIsFine(t *testing.T) {
	m, w := watched(t, tree{"proc/stat": stat([4]core{{2, 498, 0}, {0, 490, 10}, {0, 500, 0}, {3, 497, 0}})})
	expect(t, "steal", m.steal(w), Good, "at most 2.0 % of a core in 1ms (CPU 1)", "", "")
	expect(t, "load", m.load(w), Good, "0.01 cores", "", "")
	expect(t, "swap", m.swap(w), Good, "2.0 GiB, of which 1 MiB used; 0 pages moved", "", "")
	expect(t, "heat", m.heat(w), Good, "7 times since the start", "", "")
	expect(t, "quota", m.quota(w), Good, "used up in 2 periods so far", "", "")
}

func TestWhatDisturbsIsNamed(t *testing.T) {
	m, w := watched(t, tree{
		"proc/stat":    stat([4]core{{250, 250, 0}, {0, 480, 20}, {25, 475, 0}, {0, 500, 0}}),
		"proc/10/stat": process(10, "postgres", 200), "proc/11/stat": process(11, "postgres", 225),
		"proc/13/stat": process(13, "newcomer", 5),
		"proc/vmstat":  "pswpin 101\npswpout 45",
		"sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count": "6",
		"sys/fs/cgroup/cpu.stat": "nr_periods 19\nnr_throttled 5\nthrottled_usec 950",
	})
	// 20 of 500 ticks; the limit is three hundredths.
	expect(t, "steal", m.steal(w), Limit, "4.0 % of a core in 1ms (CPU 1)", "every claim", "")
	// 275 of 500 ticks, 225 of them by postgres and 5 by the newcomer. A process
	// that used nothing is not named.
	f := m.load(w)
	expect(t, "load", f, Limit, "0.55 cores in 1ms, by postgres 0.45, newcomer 0.01", "every claim", "stop")
	if strings.Contains(f.Seen, "idler") || strings.Contains(f.Seen, "ended") {
		t.Errorf("load: %s", f.Seen)
	}
	expect(t, "swap", m.swap(w), Limit, "6 pages moved", "measures the disk", "swapoff")
	expect(t, "heat", m.heat(w), Limit, "2 times", "every claim", "cool")
	expect(t, "quota", m.quota(w), Limit, "5 periods so far, 3 of them in the last 1ms", "invalid", "--cpus")
}

func TestLoadWithoutANameIsSaidToHaveEnded(t *testing.T) {
	m, w := watched(t, tree{"proc/stat": stat([4]core{{250, 250, 0}, {0, 500, 0}, {0, 500, 0}, {0, 500, 0}})})
	expect(t, "load", m.load(w), Limit, "0.50 cores in 1ms; most of it by processes that have ended", "every claim", "")
}

func TestCoresThatTheLabMayNotUseDoNotCount(t *testing.T) {
	m, w := watched(t, tree{"proc/stat": stat([4]core{{0, 500, 0}, {0, 500, 0}, {0, 500, 0}, {400, 0, 100}})})
	m.Allowed = []int{0, 1, 2}
	expect(t, "steal", m.steal(w), Good, "0.0 %", "", "")
	expect(t, "load", m.load(w), Good, "0.00 cores", "", "")
}

func TestWhatIsNotShownIsNotSeen(t *testing.T) {
	m := madeUp(t, nil)
	m.Watch = time.Millisecond
	w := m.watch()
	for _, f := range []Finding{m.steal(w), m.load(w), m.heat(w), m.swap(w)} {
		expect(t, f.About, f, Good, "not", "", "")
	}
}

func TestWithoutAWatchThatIsSaid(t *testing.T) {
	m := madeUp(t, before)
	w := m.watch()
	if fs := m.watched(w); w != nil || len(fs) != 1 {
		t.Fatalf("%+v", fs)
	}
	expect(t, "watch", m.watched(w)[0], Good, "left out", "", "")
	expect(t, "swap", m.swap(w), Good, "2.0 GiB", "", "")
}
