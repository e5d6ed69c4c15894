package proc

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"

	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A Held is the state of a server's processes and connections at one moment.
type Held struct {
	Processes   []HeldBy // in the order asked for; ended processes are missing
	Connections int      // established connections of all processes
	RSS         int      // bytes, summed over processes; shared pages count for each
}

// A HeldBy is the state of one process.
type HeldBy struct {
	PID         int
	Threads     int
	Connections int // established connections to the server's port that it has open
}

// A Listening names the processes and the port of a server.
type Listening struct {
	PIDs []int
	Port int
}

// Census reads, for servers in one network namespace, how many established
// connections to its server's port each process has open. It matches sockets to
// processes, so connections taken by another program are not counted. The
// namespace's list is read once for all servers, since reading takes many
// milliseconds.
func Census(servers ...Listening) []Held {
	out := make([]Held, len(servers))
	var open map[string]int // ports, as the first living process sees them
	for i, s := range servers {
		for _, pid := range s.PIDs {
			st, err := ReadStat(pid)
			if err != nil {
				continue
			}
			if open == nil {
				open = ports(pid, isEstablished)
			}
			h, one := &out[i], HeldBy{PID: pid, Threads: st.Threads}
			one.Connections = strict.Count(openSockets(pid), func(socket string) bool { return open[socket] == s.Port })
			h.Processes = append(h.Processes, one)
			h.Connections += one.Connections
			h.RSS += st.RSS
		}
	}
	return out
}

// A Listener is where a process listens.
type Listener struct {
	IP   net.IP
	Port int
}

func (l Listener) String() string { return net.JoinHostPort(l.IP.String(), strconv.Itoa(l.Port)) }

// Listens gives the TCP addresses on which some processes listen, by port.
func Listens(pids []int) (on []Listener) {
	for _, pid := range pids {
		open := strict.Set(openSockets(pid), func(s string) string { return s })
		if len(open) == 0 {
			continue
		}
		for _, s := range sockets(pid, isListening) {
			if open[s.inode] && !slices.ContainsFunc(on, func(l Listener) bool { return l.String() == s.String() }) {
				on = append(on, s.Listener)
			}
		}
	}
	slices.SortFunc(on, func(a, b Listener) int { return a.Port - b.Port })
	return on
}

// States of a socket, as the kernel numbers them.
const (
	isEstablished = 1
	isListening   = 10
)

// A socket is a TCP socket with the name that a process's list of open files has for it.
type socket struct {
	Listener
	inode string
}

// sockets lists the TCP sockets of a state in a process's network namespace.
func sockets(pid int, state uint64) (all []socket) {
	fs, err := procfs.NewFS(fmt.Sprintf("/proc/%d", pid))
	if err != nil {
		return nil
	}
	tcp, _ := fs.NetTCP()
	tcp6, _ := fs.NetTCP6()
	for _, s := range slices.Concat(tcp, tcp6) {
		if s.St == state {
			all = append(all, socket{Listener{s.LocalAddr, int(s.LocalPort)}, fmt.Sprintf("socket:[%d]", s.Inode)})
		}
	}
	return all
}

// ports gives the local ports of such sockets by their names.
func ports(pid int, state uint64) map[string]int {
	out := map[string]int{}
	for _, s := range sockets(pid, state) {
		out[s.inode] = s.Port
	}
	return out
}

// openSockets lists a process's open sockets by the kernel's names; none for a
// process that has ended.
func openSockets(pid int) []string {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return nil
	}
	open, _ := p.FileDescriptorTargets()
	return strict.Those(open, func(to string) bool { return strings.HasPrefix(to, "socket:") })
}

// Listeners lists the processes that listen on a TCP port in this network namespace, as far
// as this user may look into them.
func Listeners(port int) (pids []int) {
	open := ports(os.Getpid(), isListening)
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, path := range all {
		pid, _ := strconv.Atoi(filepath.Base(path))
		if slices.ContainsFunc(openSockets(pid), func(s string) bool { return open[s] == port }) {
			pids = append(pids, pid)
		}
	}
	return pids
}
