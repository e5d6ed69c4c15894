package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"

	"github.com/line-rate/line-rate/lab/internal/gate"
)

// A look is one reading of the counters.
type look struct {
	cpus    map[int64]procfs.CPUStat
	used    map[int]program // CPU time of processes in seconds
	paged   int64           // pages swapped in and out
	pages   bool            // whether they are counted
	thermal int64           // how often a core was slowed because of heat
	heat    bool
	quota   int64 // how often the quota stopped the lab's group
}

type program struct {
	name string
	cpu  float64
}

// A watch is two looks. It is nil if nothing was watched.
type watch struct {
	a, b look
	over time.Duration
}

// watch looks twice and sleeps in between: if it worked, it would itself be the
// load that it warns of.
func (m Machine) watch() *watch {
	if m.Watch <= 0 {
		return nil
	}
	began := time.Now()
	w := &watch{a: m.look()}
	for left := m.Watch; left > 0; left = m.Watch - time.Since(began) {
		if m.Tick != nil {
			m.Tick(left)
		}
		time.Sleep(min(left, time.Second))
	}
	w.b, w.over = m.look(), m.Watch
	return w
}

func (m Machine) look() look {
	l := look{used: map[int]program{}}
	fs, err := m.procfs()
	if err != nil {
		return l
	}
	if st, err := fs.Stat(); err == nil {
		l.cpus = st.CPU
	}
	if ps, err := fs.AllProcs(); err == nil {
		for _, p := range ps {
			if st, err := p.Stat(); err == nil { // else the process has ended
				l.used[p.PID] = program{st.Comm, st.CPUTime()}
			}
		}
	}
	l.paged, l.pages = swapped(read(m.Proc, "vmstat"))
	counters, _ := filepath.Glob(m.cpu("cpu*", "thermal_throttle", "core_throttle_count"))
	for _, c := range counters {
		if n, err := strconv.ParseInt(read(c), 10, 64); err == nil {
			l.thermal, l.heat = l.thermal+n, true
		}
	}
	l.quota = m.cpuQuota().Stops
	return l
}

// swapped sums the pages swapped in and out, from vmstat as one line.
func swapped(vmstat string) (pages int64, ok bool) {
	fields := strings.Fields(vmstat)
	for i := 0; i+1 < len(fields); i++ {
		if fields[i] == "pswpin" || fields[i] == "pswpout" {
			n, err := strconv.ParseInt(fields[i+1], 10, 64)
			pages, ok = pages+n, err == nil
		}
	}
	return pages, ok
}

// watched reports the changes during the watch. The load average is not used:
// it is a mean over minutes, which still includes the run before; it counts
// tasks that wait for a disk; and it does not say how much CPU is left.
func (m Machine) watched(w *watch) []Finding {
	if w == nil {
		return []Finding{{Level: Good, About: "watch",
			Seen: "left out: steal, other load, paging and throttling were not looked at"}}
	}
	return []Finding{m.steal(w), m.load(w), m.heat(w)}
}

// spent is what a core did between the looks, in seconds: in all, busy, and
// stolen.
func (w *watch) spent(cpu int) (all, busy, steal float64, ok bool) {
	x, xok := w.a.cpus[int64(cpu)]
	y, yok := w.b.cpus[int64(cpu)]
	// Guest time is left out because the kernel includes it in user time.
	work := func(c procfs.CPUStat) float64 { return c.User + c.Nice + c.System + c.IRQ + c.SoftIRQ }
	busy, steal = work(y)-work(x), y.Steal-x.Steal
	all = busy + steal + y.Idle + y.Iowait - x.Idle - x.Iowait
	return all, busy, steal, xok && yok && all > 0
}

func (m Machine) steal(w *watch) Finding {
	f := Finding{Level: Good, About: "steal", Seen: "not shown here"}
	worst, on := -1.0, 0
	for _, c := range m.Allowed {
		if all, _, steal, ok := w.spent(c); ok && steal/all > worst {
			worst, on = steal/all, c
		}
	}
	if worst < 0 {
		return f
	}
	f.Seen = fmt.Sprintf("at most %.1f %% of a core in %v (CPU %d)", 100*worst, w.over, on)
	if worst > gate.StealShare {
		f.Level, f.Spoils = Limit, true
		f.Means = fmt.Sprintf("other machines on this host use its cores; a trial that loses more than %.0f %% is invalid: %s",
			100*gate.StealShare, m.name(m.claims(every)))
		f.Mend = "wait, or use a machine whose cores are its own"
	}
	return f
}

// load is the CPU use of all other processes. Processes that began and ended
// within the watch are in the sum but have no name.
func (m Machine) load(w *watch) Finding {
	f := Finding{Level: Good, About: "other load", Seen: "not shown here"}
	var share, seconds float64
	seen := 0
	for _, c := range m.Allowed {
		if all, busy, _, ok := w.spent(c); ok {
			share, seconds, seen = share+busy/all, seconds+all, seen+1
		}
	}
	if seen == 0 {
		return f
	}
	seconds /= float64(seen)
	byName := map[string]float64{}
	for pid, after := range w.b.used {
		d := after.cpu - w.a.used[pid].cpu // a new process has used all of its time since the first look
		if pid == os.Getpid() && m.Proc == "/proc" {
			share -= d / seconds
		} else {
			byName[after.name] += d / seconds
		}
	}
	f.Seen = fmt.Sprintf("%.2f cores in %v", max(share, 0), w.over)
	b, named := busiest(byName)
	if len(b) > 0 {
		f.Seen += ", by " + strings.Join(b, ", ")
	}
	if share > gate.ForeignLoad && named < share/2 {
		f.Seen += "; most of it by processes that have ended"
	}
	if share > gate.ForeignLoad {
		f.Level, f.Spoils = Limit, true
		f.Means = fmt.Sprintf("trials beside more than %.2f cores of it are invalid: %s", gate.ForeignLoad,
			m.name(m.claims(every)))
		f.Mend = "stop what is named, or wait for its end"
	}
	return f
}

// busiest names up to three commands and gives the sum of their use. It leaves
// out arguments, which may be private.
func busiest(cores map[string]float64) (names []string, sum float64) {
	const least, atMost = 0.005, 3
	for n, c := range cores {
		if c >= least {
			names = append(names, n)
		}
	}
	sort.Slice(names, func(i, j int) bool {
		a, b := names[i], names[j]
		return cores[a] > cores[b] || cores[a] == cores[b] && a < b
	})
	names = slices.Clip(names[:min(len(names), atMost)])
	for i, n := range names {
		names[i] = fmt.Sprintf("%s %.2f", n, cores[n])
		sum += cores[n]
	}
	return names, sum
}

func (m Machine) heat(w *watch) Finding {
	f := Finding{Level: Good, About: "heat", Seen: notVisible}
	if !w.b.heat {
		return f
	}
	f.Seen = fmt.Sprintf("no core was slowed for it in %v (%d times since the start)", w.over, w.b.thermal)
	if n := w.b.thermal - w.a.thermal; n > 0 {
		f.Spoils = true
		f.Level, f.Seen = Limit, fmt.Sprintf("cores were slowed for it %d times in %v", n, w.over)
		f.Means = "a trial on a core that is slowed is invalid: " + m.name(m.claims(every))
		f.Mend = "let it cool, plug it in, clear its vents"
	}
	return f
}
