package bench

import (
	"bytes"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// find looks up the processes or the group of a server that runs already.
func (s *Server) find() (err error) {
	s.running = &measure.Running{Label: s.Name, At: s.address()}
	kind, which, _ := strings.Cut(s.Subject, ":")
	if kind == "pid" {
		pid, _ := strconv.Atoi(which) // parsed before
		s.running.Processes = process(pid)
	} else {
		s.running.Processes, s.running.File, err = group(which)
	}
	if err == nil {
		err = s.owns()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	return nil
}

// process finds a process and those that it starts, each time anew.
func process(pid int) func() ([]int, error) {
	first, _ := proc.ReadStat(pid)
	return func() ([]int, error) {
		now, err := proc.ReadStat(pid)
		if err != nil || now.State == 'Z' || now.State == 'X' || now.Began != first.Began { // its number may be another's now
			return nil, fmt.Errorf("there is no process %d; pgrep -f NAME finds one", pid)
		}
		return proc.Descendants(pid), nil
	}
}

// hierarchies are where control groups are mounted, and the file that tells their CPU time there. Version 1 goes
// first: where both are mounted, engines of containers use it.
var hierarchies = []struct{ at, file string }{{"/sys/fs/cgroup/cpuacct", "cpuacct.usage"},
	{"/sys/fs/cgroup/unified", "cpu.stat"}, {"/sys/fs/cgroup", "cpu.stat"}}

// group finds a control group by its path, as systemd-cgls and /proc/PID/cgroup print it, or by
// its directory. Its CPU time is that of the groups below it too. It refuses a group in which this process is: the
// load's own CPU time would count as the server's.
func group(path string) (all func() ([]int, error), file string, err error) {
	for _, h := range hierarchies {
		dir := filepath.Join(h.at, strings.TrimPrefix(path, h.at+"/"))
		file := filepath.Join(dir, h.file)
		if _, err := os.Stat(file); err != nil {
			continue
		}
		if slices.Contains(within(dir), os.Getpid()) {
			return nil, "", fmt.Errorf("this call itself runs in the cgroup %s, so what it uses would count as the server's; have "+
				"the server in one of its own (systemd-run --scope)", path)
		}
		return func() (pids []int, err error) {
			if pids = within(dir); len(pids) == 0 {
				err = fmt.Errorf("no process runs in the cgroup %s; /proc/PID/cgroup has that of a process", strict.Visible(path, 120))
			}
			return pids, err
		}, file, nil
	}
	return nil, "", fmt.Errorf("there is no cgroup %s that tells its CPU time; /proc/PID/cgroup has that of a process",
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
func affinity(servers []*Server) (all []int) {
	for _, s := range servers {
		if s.running == nil {
			continue
		}
		pids, _ := s.running.Processes()
		for _, pid := range pids {
			on, _ := cores.Parse(proc.Status(pid, "Cpus_allowed_list"))
			all = append(all, on...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// owns refuses a server that ran already at whose address others listen too, or in its place.
func (s *Server) owns() error {
	pids, err := s.running.Processes()
	if err != nil {
		return err
	}
	here, _ := os.Readlink("/proc/self/ns/net")
	inside := slices.ContainsFunc(pids, func(pid int) bool {
		there, _ := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", pid))
		return there == here
	})
	_, text, _ := net.SplitHostPort(s.address())
	port, err := strconv.Atoi(text)
	if !inside || err != nil {
		return nil // as in most containers, whose port another program passes on; or of a socket
	}
	for _, pid := range proc.Listeners(port) {
		if pid > 1 && !slices.Contains(pids, pid) { // systemd holds sockets
			return fmt.Errorf("process %d (%s) listens on %s and is none of %s; name the one that listens, or the process or cgroup of "+
				"all that do", pid, proc.Command(pid), s.address(), s.Subject)
		}
	}
	return nil
}

// leastCost is less CPU time than answering a request can take, in seconds.
const leastCost = 100e-9

// childLost tells whether one of some processes lets its children end without a trace.
func childLost(pids []int) bool {
	return slices.ContainsFunc(pids, func(pid int) bool {
		ignored, err := strconv.ParseUint(proc.Status(pid, "SigIgn"), 16, 64)
		return err == nil && ignored&(1<<16) != 0 // signal 17
	})
}
