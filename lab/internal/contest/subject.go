package contest

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/proc"

	"github.com/prometheus/procfs"

	"github.com/line-rate/line-rate/lab/internal/cgroup"
	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/run"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// The ways to name a server that runs already here, so that its CPU time can be read.
const (
	byProcess = "pid"
	byCgroup  = "cgroup"
)

// subject takes KIND:WHICH@ from before an address, and gives what is left: all, if it is of no such kind.
func (s *Server) subject(text string) (address string, err error) {
	kind, rest, _ := strings.Cut(text, ":")
	if !slices.Contains([]string{byProcess, byCgroup}, kind) {
		return text, nil
	}
	at := strings.LastIndex(rest, "@") // a unit of systemd may have one in its name
	if at < 1 || at == len(rest)-1 {
		return "", fmt.Errorf("%s: %s says whose CPU time is read; write where it listens as well, as "+
			"%s=%s:%s@HOST:PORT", s.Name, strict.Visible(text, 80), s.Name, kind, strict.Visible(strings.Trim(rest, "@"), 60))
	}
	which, address := rest[:at], rest[at+1:]
	if pid, err := strconv.Atoi(which); kind == byProcess && (err != nil || pid < 1) {
		return "", fmt.Errorf("%s: %q is no process id; write %s=pid:1234@HOST:PORT (pgrep -f NAME finds it)", s.Name,
			strict.Visible(which, 40), s.Name)
	}
	s.Subject = kind + ":" + which
	if !strings.Contains(address, "://") && !strings.HasPrefix(address, "unix:") {
		address = "http://" + address
	}
	return address, nil
}

// Costed tells whether the server's CPU time can be read.
func (s Server) Costed() bool { return s.URL == "" || s.Subject != "" }

// Find looks up the processes and groups of servers that run already.
func Find(servers []Server) ([]Server, error) {
	servers = slices.Clone(servers)
	for i, s := range servers {
		if s.URL == "" {
			continue
		}
		found, err := s.find()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		servers[i].runs = &found
	}
	return servers, nil
}

func (s Server) find() (o run.Outside, err error) {
	o.Addr = s.address()
	kind, which, _ := strings.Cut(s.Subject, ":")
	var g cgroup.Group
	switch kind {
	case byProcess:
		pid, _ := strconv.Atoi(which) // parsed before
		since := began(pid)
		if since == 0 {
			return o, fmt.Errorf("there is no process %d; pgrep -f NAME finds one", pid)
		}
		o.Processes = func() ([]int, error) {
			if began(pid) != since {
				return nil, fmt.Errorf("process %d has ended; give that of the server as it runs now", pid)
			}
			return proc.Descendants(pid), nil
		}
		return o, nil
	case byCgroup:
		g, err = cgroup.Find(which)
	default:
		return o, nil
	}
	o.CPUFile = g.File
	o.Processes = func() ([]int, error) {
		pids, err := g.Processes()
		if err == nil && len(pids) == 0 {
			err = fmt.Errorf("no process is in the cgroup %s", g.Path)
		}
		return pids, err
	}
	return o, err
}

// began is when a process started, as the kernel counts; 0 if there is none. A number may
// be given to another process.
func began(pid int) uint64 {
	s, err := statOf(pid)
	if err != nil || s.State == "Z" || s.State == "X" {
		return 0
	}
	return s.Starttime
}

func statOf(pid int) (procfs.ProcStat, error) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return procfs.ProcStat{}, err
	}
	return p.Stat()
}

// watched tells whether a server ran already and its processes are known.
func (s Server) watched() bool { return s.runs != nil && s.runs.Processes != nil }

// lost says that a server has ended which is watched.
func (s Server) lost() error {
	if !s.watched() {
		return nil
	}
	if _, err := s.runs.Processes(); err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	return nil
}

// Affinity are the cores on which servers that run already may run.
func Affinity(servers []Server) []int {
	var all []int
	for _, s := range servers {
		if !s.watched() {
			continue
		}
		pids, _ := s.runs.Processes()
		for _, pid := range pids {
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
			_, rest, _ := strings.Cut(string(status), "Cpus_allowed_list:")
			list, _, _ := strings.Cut(rest, "\n")
			on, _ := cores.Parse(strings.TrimSpace(list))
			all = append(all, on...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// An ownership tells whether the processes that are watched are those that answer.
type ownership struct {
	Server
	others map[int]time.Duration // that listen at the same address, and their CPU time before the load
}

// owns refuses a server at whose address others listen.
func (s Server) owns() (ownership, error) {
	o := ownership{s, map[int]time.Duration{}}
	pids, err := s.runs.Processes()
	if err != nil {
		return o, fmt.Errorf("%s: %w", s.Name, err)
	}
	if here, _ := os.Readlink("/proc/self/ns/net"); !slices.ContainsFunc(pids, func(pid int) bool {
		there, _ := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", pid))
		return there == here
	}) {
		return o, nil // as in most containers, whose port another program passes on
	}
	if strings.HasPrefix(s.address(), "unix:") {
		return o, nil // of which only the CPU time that it took can tell
	}
	_, text, _ := net.SplitHostPort(s.address())
	port, _ := strconv.Atoi(text)
	listeners := proc.Listeners(port)
	own := false
	for _, pid := range listeners {
		if own = own || slices.Contains(pids, pid); !slices.Contains(pids, pid) {
			o.others[pid], _ = cores.ProcessTime(pid)
		}
	}
	if len(listeners) > 0 && !own {
		return o, fmt.Errorf("%s: process %d (%s) listens on %s, and none of %s does; name the one that listens", s.Name,
			listeners[0], proc.Command(listeners[0]), s.address(), s.Subject)
	}
	return o, nil
}

// leastOfOthers is the share of the CPU time that makes a process one of the server's.
const leastOfOthers = 0.02

// leastCost is less CPU time than answering a request can take.
const leastCost = 100 * time.Nanosecond

// spent refuses a server that did not use the CPU time that its answers took.
func (o ownership) spent(turns []turn) error {
	requests, cpu := int64(0), 0.0
	for _, t := range turns {
		requests, cpu = requests+t.requests, cpu+t.cpu
	}
	for pid, before := range o.others {
		if now, ok := cores.ProcessTime(pid); ok && (now-before).Seconds() > leastOfOthers*cpu {
			return fmt.Errorf("%s: process %d (%s) listens on %s as well and answered part of the load; name the process that "+
				"started both, or their cgroup", o.Name, pid, proc.Command(pid), o.address())
		}
	}
	if cpu < float64(requests)*leastCost.Seconds() {
		return fmt.Errorf("%s: %s used %.3g s of CPU time for %d answers, so others give them: a proxy before it, or "+
			"workers that it did not start", o.Name, o.Subject, cpu, requests)
	}
	return nil
}
