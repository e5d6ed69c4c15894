package telemetry

import (
	"fmt"
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
	var sockets map[int]map[string]bool // by port, as the first living process sees them
	for i, s := range servers {
		for _, pid := range s.PIDs {
			st, err := readStat(pid)
			if err != nil {
				continue
			}
			if sockets == nil {
				sockets = ports(pid, isEstablished)
			}
			h, one := &out[i], HeldBy{PID: pid, Threads: st.threads}
			one.Connections = strict.Count(Sockets(pid), func(socket string) bool { return sockets[s.Port][socket] })
			h.Processes = append(h.Processes, one)
			h.Connections += one.Connections
			h.RSS += st.rss
		}
	}
	return out
}

// Listens gives the TCP ports on which some processes listen, ascending.
func Listens(pids []int) (on []int) {
	for _, pid := range pids {
		sockets := Sockets(pid)
		if len(sockets) == 0 {
			continue
		}
		for port, inodes := range ports(pid, isListening) {
			if slices.ContainsFunc(sockets, func(s string) bool { return inodes[s] }) {
				on = append(on, port)
			}
		}
	}
	slices.Sort(on)
	return slices.Compact(on)
}

// States of a socket, as the kernel numbers them.
const (
	isEstablished = 1
	isListening   = 10
)

// ports gives the inodes of the sockets of a state in a process's network
// namespace, by local port.
func ports(pid int, state uint64) map[int]map[string]bool {
	out := map[int]map[string]bool{}
	fs, err := procfs.NewFS(fmt.Sprintf("/proc/%d", pid))
	if err != nil {
		return out
	}
	tcp, _ := fs.NetTCP()
	tcp6, _ := fs.NetTCP6()
	for _, s := range slices.Concat(tcp, tcp6) {
		if s.St != state {
			continue
		}
		port := int(s.LocalPort)
		if out[port] == nil {
			out[port] = map[string]bool{}
		}
		out[port][fmt.Sprintf("socket:[%d]", s.Inode)] = true
	}
	return out
}

// Sockets lists a process's open sockets by the kernel's names; none for a
// process that has ended.
func Sockets(pid int) []string {
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
	inodes := ports(os.Getpid(), isListening)[port]
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, path := range all {
		pid, _ := strconv.Atoi(filepath.Base(path))
		if slices.ContainsFunc(Sockets(pid), func(s string) bool { return inodes[s] }) {
			pids = append(pids, pid)
		}
	}
	return pids
}
