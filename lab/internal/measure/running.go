package measure

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/machine"
	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A Running is a server that runs already.
type Running struct {
	Label     string
	At        string
	Processes func() ([]int, error) // an error says that it has ended; nil: nothing but the address is known
	File      string                // of a cgroup, that tells its CPU time; empty: that of the processes is read
}

func (r *Running) Name() string             { return r.Label }
func (r *Running) Addr() string             { return r.At }
func (r *Running) Up(context.Context) error { return r.Gone() }
func (r *Running) Down()                    {}

// Gone says that the server has ended.
func (r *Running) Gone() error {
	if r.Processes == nil {
		return nil
	}
	pids, err := r.Processes()
	if err == nil && len(pids) == 0 {
		err = errors.New("none of its processes runs")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", r.Label, err)
	}
	return nil
}

// CPU reads the clocks of its processes, or of its cgroup.
func (r *Running) CPU() Clocks {
	if r.Processes == nil {
		return Clocks{}
	}
	pids, _ := r.Processes()
	if r.File != "" {
		used, _ := proc.GroupTime(r.File) // Gone tells if it is gone
		return Clocks{true, proc.Times{PIDs: pids, Ended: used}}
	}
	out := Clocks{Known: true}
	for _, pid := range pids {
		if v, ok := proc.Time(pid); ok {
			out.PIDs, out.CPU = append(out.PIDs, pid), append(out.CPU, v)
		}
	}
	return out
}

// Find looks up the processes of a server that runs already, by whose they are: pid:1234 or cgroup:/PATH.
func (r *Running) Find(whose string) (err error) {
	kind, which, _ := strings.Cut(whose, ":")
	if kind == "pid" {
		pid, _ := strconv.Atoi(which) // 0 is no process
		r.Processes = process(pid)
	} else {
		r.Processes, r.File, err = group(which)
	}
	if err == nil {
		err = r.owns(whose)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", r.Label, err)
	}
	return nil
}

// Cores are those on which its processes may run.
func (r *Running) Cores() (all []int) {
	if r.Processes == nil {
		return nil
	}
	pids, _ := r.Processes()
	for _, pid := range pids {
		on, _ := machine.Parse(proc.Status(pid, "Cpus_allowed_list"))
		all = append(all, on...)
	}
	return all
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

// owns refuses a server that ran already at whose address others listen too, or in its place.
func (r *Running) owns(whose string) error {
	pids, err := r.Processes()
	if err != nil {
		return err
	}
	here, _ := os.Readlink("/proc/self/ns/net")
	inside := slices.ContainsFunc(pids, func(pid int) bool {
		there, _ := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", pid))
		return there == here
	})
	port := port(r.At)
	if !inside || port == 0 {
		return nil // as in most containers, whose port another program passes on; or of a socket
	}
	for _, pid := range proc.Listeners(port) {
		if pid > 1 && !slices.Contains(pids, pid) { // systemd holds sockets
			return fmt.Errorf("process %d (%s) listens on %s and is none of %s; name the one that listens, or the process or cgroup of "+
				"all that do", pid, proc.Command(pid), r.At, whose)
		}
	}
	return nil
}
