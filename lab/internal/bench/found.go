package bench

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/proc"
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
	if kind != byProcess && kind != byCgroup {
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

// A found is a server that ran already.
type found struct {
	processes func() ([]int, error) // an error says that it has ended
	file      string                // of a cgroup, that tells its CPU time; empty: that of the processes is read
}

// Find looks up the processes and groups of servers that run already.
func Find(servers []Server) ([]Server, error) {
	servers = slices.Clone(servers)
	for i, s := range servers {
		kind, which, _ := strings.Cut(s.Subject, ":")
		var err error
		switch kind {
		case byProcess:
			pid, _ := strconv.Atoi(which) // parsed before
			servers[i].found, err = findProcess(pid)
		case byCgroup:
			servers[i].found, err = findGroup(which)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	return servers, nil
}

func findProcess(pid int) (*found, error) {
	since := began(pid)
	if since == 0 {
		return nil, fmt.Errorf("there is no process %d; pgrep -f NAME finds one", pid)
	}
	return &found{processes: func() ([]int, error) {
		if began(pid) != since { // its number may be another process's now
			return nil, fmt.Errorf("process %d has ended; give that of the server as it runs now", pid)
		}
		return proc.Descendants(pid), nil
	}}, nil
}

// began is when a process started, as the kernel counts; 0 if there is none.
func began(pid int) int {
	s, err := proc.ReadStat(pid)
	if err != nil || s.State == 'Z' || s.State == 'X' {
		return 0
	}
	return s.Began
}

// findGroup finds a control group by its path, as systemd-cgls and /proc/PID/cgroup print it, or by
// its directory. Version 2 tells its CPU time in cpu.stat, version 1 in cpuacct.usage, both with the
// groups below, and in the grain of a process's clock. It refuses a group in which this process is: the
// load's own CPU time would count as the server's.
func findGroup(path string) (*found, error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	own, _ := os.ReadFile("/proc/self/cgroup")
	for _, h := range hierarchies(mounts) {
		group := filepath.Clean("/" + path)
		if rest, ok := strings.CutPrefix(group, h.at+"/"); ok {
			group = filepath.Join(h.root, rest)
		}
		inner, err := filepath.Rel(h.root, group)
		if err != nil || strings.HasPrefix(inner, "..") {
			continue
		}
		dir := filepath.Join(h.at, inner)
		file := filepath.Join(dir, h.file)
		if _, err := os.Stat(file); err != nil {
			continue
		}
		if mine := h.in(own); group == "/" || group == mine || strings.HasPrefix(mine, group+"/") {
			return nil, fmt.Errorf("this call itself runs in the cgroup %s, so what it uses would count as the server's; have "+
				"the server in one of its own (systemd-run --scope)", group)
		}
		return &found{file: file, processes: func() ([]int, error) {
			if _, err := os.Stat(file); err != nil {
				return nil, fmt.Errorf("the cgroup %s is gone", group)
			}
			all := within(dir)
			if len(all) == 0 {
				return nil, fmt.Errorf("no process is in the cgroup %s", group)
			}
			return all, nil
		}}, nil
	}
	return nil, fmt.Errorf("there is no cgroup %s that tells its CPU time; /proc/PID/cgroup has that of a process",
		strict.Visible(path, 120))
}

// A hierarchy is where control groups are mounted.
type hierarchy struct {
	at, root   string // the directory, and which group it is
	file       string // that tells the CPU time
	controller string // in /proc/PID/cgroup; version 2 has none
}

// hierarchies are version 1 with cpuacct, and version 2. The former goes first: where both are mounted,
// engines of containers use it.
func hierarchies(mounts []byte) (all []hierarchy) {
	for line := range strings.Lines(string(mounts)) {
		left, right, ok := strings.Cut(line, " - ")
		l, r := strings.Fields(left), strings.Fields(right)
		if !ok || len(l) < 5 || len(r) < 3 {
			continue
		}
		switch {
		case r[0] == "cgroup2":
			all = append(all, hierarchy{l[4], l[3], "cpu.stat", ""})
		case r[0] == "cgroup" && slices.Contains(strings.Split(r[2], ","), "cpuacct"):
			all = slices.Insert(all, 0, hierarchy{l[4], l[3], "cpuacct.usage", "cpuacct"})
		}
	}
	return all
}

// in is the group that a process is in, by its /proc/PID/cgroup.
func (h hierarchy) in(text []byte) string {
	for line := range strings.Lines(string(text)) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, path, _ := strings.Cut(rest, ":")
		if slices.Contains(strings.Split(controllers, ","), h.controller) {
			return path
		}
	}
	return ""
}

// within lists the processes in a group's directory and below it.
func within(dir string) (all []int) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "cgroup.procs" {
			text, _ := os.ReadFile(path)
			for _, field := range bytes.Fields(text) {
				if pid, err := strconv.Atoi(string(field)); err == nil && pid > 0 {
					all = append(all, pid)
				}
			}
		}
		return nil
	})
	return all
}

// Affinity are the cores on which servers that run already may run.
func Affinity(servers []Server) (all []int) {
	for _, s := range servers {
		if s.found == nil {
			continue
		}
		pids, _ := s.found.processes()
		for _, pid := range pids {
			on, _ := cores.Parse(status(pid, "Cpus_allowed_list"))
			all = append(all, on...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// status is a field of a process's status, as the kernel prints it.
func status(pid int, field string) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(text), "\n"+field+":")
	value, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(value)
}

// owns refuses a server that ran already at whose address others listen, and not it. It gives those
// that listen there beside it, with the CPU time that they had used before the load.
func (s Server) owns() (others map[int]time.Duration, err error) {
	pids, err := s.found.processes()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	here, _ := os.Readlink("/proc/self/ns/net")
	inside := slices.ContainsFunc(pids, func(pid int) bool {
		there, _ := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", pid))
		return there == here
	})
	_, text, err := net.SplitHostPort(s.address())
	if !inside || err != nil {
		return nil, nil // as in most containers, whose port another program passes on; or of a socket
	}
	port, _ := strconv.Atoi(text)
	listeners := proc.Listeners(port)
	others = map[int]time.Duration{}
	for _, pid := range listeners {
		if !slices.Contains(pids, pid) {
			others[pid], _ = cores.ProcessTime(pid)
		}
	}
	if len(listeners) > 0 && len(others) == len(listeners) {
		return nil, fmt.Errorf("%s: process %d (%s) listens on %s, and none of %s does; name the one that listens", s.Name,
			listeners[0], proc.Command(listeners[0]), s.address(), s.Subject)
	}
	return others, nil
}

const (
	leastOfOthers = 0.02   // the share of the CPU time that makes a process one of the server's
	leastCost     = 100e-9 // less CPU time than answering a request can take, in seconds
)

// answered refuses a server whose processes did not use the CPU time that its answers took.
func (s Server) answered(turns []turn, others map[int]time.Duration) error {
	requests, cpu := int64(0), 0.0
	for _, t := range turns {
		requests, cpu = requests+t.requests, cpu+t.cpu
	}
	for pid, before := range others {
		if now, ok := cores.ProcessTime(pid); ok && (now-before).Seconds() > leastOfOthers*cpu {
			return fmt.Errorf("%s: process %d (%s) listens on %s as well and answered part of the load; name the process that "+
				"started both, or their cgroup", s.Name, pid, proc.Command(pid), s.address())
		}
	}
	if cpu < float64(requests)*leastCost {
		return fmt.Errorf("%s: its processes used %.3g s of CPU time for %d answers, so others give them: a proxy before it, or "+
			"workers that it did not start; name what answers as %s=cgroup:/PATH@HOST:PORT", s.Name, cpu, requests, s.Name)
	}
	return nil
}

// errLost says that nobody inherits the CPU time of a server's children.
var errLost = errors.New("it ignores the end of its children (SIGCHLD) and starts one for each few requests, so nobody inherits " +
	"their CPU time and it cannot be read; let it wait for them, or name it as NAME=cgroup:/PATH@HOST:PORT")

// childLost tells whether one of some processes lets its children end without a trace.
func childLost(pids []int) bool {
	return slices.ContainsFunc(pids, func(pid int) bool {
		ignored, err := strconv.ParseUint(status(pid, "SigIgn"), 16, 64)
		return err == nil && ignored&(1<<16) != 0 // signal 17
	})
}
