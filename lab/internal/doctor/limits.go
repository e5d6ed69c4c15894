package doctor

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/machine"
	"github.com/line-rate/line-rate/lab/internal/wire"
)

// denials are the kernel settings that forbid namespaces to users.
var denials = []struct{ name, denies, mend string }{
	{"kernel.apparmor_restrict_unprivileged_userns", "1", "0"},
	{"kernel.unprivileged_userns_clone", "0", "1"},
	{"user.max_user_namespaces", "0", "10000"},
	{"user.max_net_namespaces", "0", "10000"},
}

// wires makes a wire and removes it. Only the attempt decides, since containers forbid namespaces without
// any setting. Where it fails, the settings that do are named.
func (m Machine) wires() []Finding {
	w, err := wire.Make(wire.Spec{LineRateBps: 1e8, BurstBytes: 1 << 18, QueueS: 0.02})
	if err == nil {
		w.Down()
		return []Finding{{Level: Good, About: "wire", Seen: "a shaped wire between two namespaces can be made"}}
	}
	return []Finding{m.wireless(err)}
}

func (m Machine) wireless(err error) Finding {
	f := Finding{Limit, "wire", err.Error(), "claims over a wire are not applicable", "run on the machine itself, or in a container with --privileged"}
	var by, mends []string
	for _, d := range denials {
		if m.sysctl(d.name) == d.denies {
			by, mends = append(by, d.name+"="+d.denies), append(mends, "sudo sysctl -w "+d.name+"="+d.mend)
		}
	}
	switch {
	case strings.Contains(f.Seen, "sch_tbf"):
		f.Mend = "sudo modprobe sch_tbf"
	case len(by) > 0:
		f.Seen += ": " + strings.Join(by, ", ")
		f.Mend = strings.Join(mends, " && ")
	}
	return f
}

// What an experiment with many connections needs at the most, and a run of any.
const (
	manyFiles   = 4096
	manyPorts   = 8192
	shortQueue  = 1024
	littleSpace = 512 << 10 // KiB: some hundred megabytes for a client, a few dozen for each worker
)

// limits checks what the kernel and the shell bound. The soft limit of open files does not matter: Go's
// and Node's runtimes raise theirs to the hard limit.
func (m Machine) limits() (fs []Finding) {
	check := func(about string, has int64, shown bool, unit string, least int64, means, mend string) {
		f := Finding{Level: Good, About: about, Seen: "not shown here"}
		if shown {
			f.Seen = fmt.Sprintf("%d%s", has, unit)
		}
		if shown && has < least {
			f.Level, f.Means, f.Mend = Limit, means, mend
		}
		fs = append(fs, f)
	}
	var soft, hard, from, to int64
	_, text, _ := strings.Cut(line(m.Proc, "self", "limits"), "Max open files ")
	_, err := fmt.Sscan(text, &soft, &hard)
	check("open files", hard, err == nil, " at the most", manyFiles, "experiments with many connections do not fit",
		fmt.Sprintf("sudo prlimit --pid $$ --nofile=%d:%[1]d", 2*manyFiles))
	_, err = fmt.Sscan(m.sysctl("net.ipv4.ip_local_port_range"), &from, &to)
	check("ports", to-from+1, err == nil, " connections of a client to a server at the most", manyPorts,
		"experiments with many connections find no port", `sudo sysctl -w net.ipv4.ip_local_port_range="10240 65000"`)
	queue, err := strconv.ParseInt(m.sysctl("net.core.somaxconn"), 10, 64)
	check("somaxconn", queue, err == nil, "", shortQueue,
		"connections that come at once overflow the accept queue and come again a second later",
		fmt.Sprintf("sudo sysctl -w net.core.somaxconn=%d", 4*shortQueue))
	var free int64
	_, text, _ = strings.Cut(line(m.Proc, "meminfo"), "MemAvailable: ")
	_, err = fmt.Sscan(text, &free)
	check("memory", free>>10, err == nil, " MiB available", littleSpace>>10, "a run may swap, or be killed",
		"stop what holds it: ps -eo rss,comm --sort -rss | head")
	return fs
}

// watched watches the machine as a run does. Between samples it sleeps: if it worked, it would itself be
// the load that it tells of. The load average is not used: it still includes the run before, it counts
// tasks that wait for a disk, and it does not say how much CPU is left.
func (m Machine) watched() []Finding {
	if m.Watch <= 0 {
		return []Finding{{Level: Good, About: "watch", Seen: "left out: steal, other load, paging and throttling were not looked at"}}
	}
	began := time.Now()
	s, err := machine.Start(machine.Targets{Pairs: []machine.Pair{{Client: func() int { return 0 }}},
		ServerCPUs: m.Allowed, ClientCPUs: m.Allowed, Window: m.Watch})
	if err != nil {
		return []Finding{{Level: Good, About: "watch", Seen: "not possible here: " + err.Error()}}
	}
	for left := m.Watch; left > 0; left = m.Watch - time.Since(began) {
		if m.Tick != nil {
			m.Tick(left)
		}
		time.Sleep(min(left, time.Second))
	}
	s.Stop()
	return disturbances(s.Between(0, began, time.Now(), 0))
}

// disturbances reports what went on during a watch.
func disturbances(w machine.Window) (fs []Finding) {
	const wider = "intervals are wider for it, and deciding takes longer"
	for _, d := range []struct {
		about, metric      string
		least              float64
		quiet, busy        string // with one verb for a percentage or an amount
		scale              float64
		means, mend, names string
	}{
		{"steal", "server_steal", 0.01, "none to speak of", "%.1f %% of the cores' time", 100, wider,
			"wait, or use a machine whose cores are its own", ""},
		{"other load", "server_foreign_load", 0.05, "none to speak of", "%.2f of a core", 1, wider,
			"stop what is named, or wait for its end", busiest(w.Others)},
		{"throttling", "throttled_s", 1e-9, "no core was held back", "cores were held back for %.3f s", 1,
			"a block that is held back by a quota does not count",
			"lift the quota on the container or service; if it is heat, let the machine cool", ""},
		{"swapping", "swap_pages", 1, "no page moved", "%.0f pages moved", 1, wider, "sudo swapoff -a, for the time of the run", ""},
	} {
		f := Finding{Level: Good, About: d.about, Seen: d.quiet}
		switch v, ok := w.Metrics[d.metric]; {
		case !ok:
			f.Seen = "not shown here"
		case v >= d.least:
			f = Finding{Limit, d.about, fmt.Sprintf(d.busy, v*d.scale), d.means, d.mend}
			if d.names != "" {
				f.Seen += ": " + d.names
			}
		}
		fs = append(fs, f)
	}
	return fs
}

// busiest names up to three commands with their use, without arguments, which may be private.
func busiest(others []machine.Load) string {
	var names []string
	for _, o := range others[:min(len(others), 3)] {
		if o.Cores >= 0.005 {
			names = append(names, fmt.Sprintf("%s %.2f", o.Name, o.Cores))
		}
	}
	return strings.Join(names, ", ")
}
