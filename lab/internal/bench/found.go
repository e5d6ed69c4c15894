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

// find looks up the processes or the group of a server that runs already; nil of one that only its address is known of.
func (s Server) find() (f *found, err error) {
	switch kind, which, _ := strings.Cut(s.Subject, ":"); kind {
	case byProcess:
		pid, _ := strconv.Atoi(which) // parsed before
		f, err = findProcess(pid)
	case byCgroup:
		f, err = findGroup(which)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	return f, nil
}

func findProcess(pid int) (*found, error) {
	began := func() int { // as the kernel counts; 0 if there is none
		s, err := proc.ReadStat(pid)
		if err != nil || s.State == 'Z' || s.State == 'X' {
			return 0
		}
		return s.Began
	}
	since := began()
	if since == 0 {
		return nil, fmt.Errorf("there is no process %d; pgrep -f NAME finds one", pid)
	}
	return &found{processes: func() ([]int, error) {
		if began() != since { // its number may be another process's now
			return nil, fmt.Errorf("process %d has ended; give that of the server as it runs now", pid)
		}
		return proc.Descendants(pid), nil
	}}, nil
}

// hierarchies are where control groups are mounted, and the file that tells their CPU time there. Version 1 goes
// first: where both are mounted, engines of containers use it.
var hierarchies = []struct{ at, file string }{{"/sys/fs/cgroup/cpuacct", "cpuacct.usage"},
	{"/sys/fs/cgroup/unified", "cpu.stat"}, {"/sys/fs/cgroup", "cpu.stat"}}

// findGroup finds a control group by its path, as systemd-cgls and /proc/PID/cgroup print it, or by
// its directory. Its CPU time is that of the groups below it too. It refuses a group in which this process is: the
// load's own CPU time would count as the server's.
func findGroup(path string) (*found, error) {
	for _, h := range hierarchies {
		group := filepath.Clean("/" + strings.TrimPrefix(path, h.at+"/"))
		dir := filepath.Join(h.at, group)
		file := filepath.Join(dir, h.file)
		if _, err := os.Stat(file); err != nil {
			continue
		}
		if slices.Contains(within(dir), os.Getpid()) {
			return nil, fmt.Errorf("this call itself runs in the cgroup %s, so what it uses would count as the server's; have "+
				"the server in one of its own (systemd-run --scope)", group)
		}
		return &found{file: file, processes: func() ([]int, error) {
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

// affinity are the cores on which servers that run already may run.
func affinity(servers []Server) (all []int) {
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

// owns refuses a server that ran already at whose address others listen too, or in its place.
func (s Server) owns() error {
	pids, err := s.found.processes()
	if err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	here, _ := os.Readlink("/proc/self/ns/net")
	inside := slices.ContainsFunc(pids, func(pid int) bool {
		there, _ := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", pid))
		return there == here
	})
	_, text, err := net.SplitHostPort(s.address())
	if !inside || err != nil {
		return nil // as in most containers, whose port another program passes on; or of a socket
	}
	port, _ := strconv.Atoi(text)
	listeners := proc.Listeners(port)
	other := slices.IndexFunc(listeners, func(pid int) bool { return pid > 1 && !slices.Contains(pids, pid) }) // systemd holds sockets
	switch {
	case other < 0:
		return nil
	case slices.ContainsFunc(listeners, func(pid int) bool { return slices.Contains(pids, pid) }):
		return fmt.Errorf("%s: process %d (%s) listens on %s as well; name the process that started both, or their cgroup", s.Name,
			listeners[other], proc.Command(listeners[other]), s.address())
	}
	return fmt.Errorf("%s: process %d (%s) listens on %s, and none of %s does; name the one that listens", s.Name,
		listeners[other], proc.Command(listeners[other]), s.address(), s.Subject)
}

// leastCost is less CPU time than answering a request can take, in seconds.
const leastCost = 100e-9

// answered refuses a server whose processes did not use the CPU time that its answers took.
func (s Server) answered(turns []turn) error {
	requests, cpu := int64(0), 0.0
	for _, t := range turns {
		requests, cpu = requests+t.requests, cpu+t.cpu
	}
	if cpu >= float64(requests)*leastCost {
		return nil
	}
	return fmt.Errorf("%s: its processes used %.3g s of CPU time for %d answers, so others give them: a proxy before it, or "+
		"workers that it did not start; name what answers as %s=cgroup:/PATH@HOST:PORT", s.Name, cpu, requests, s.Name)
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
