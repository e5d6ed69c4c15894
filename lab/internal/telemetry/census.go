package telemetry

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

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

// States of a socket, as the kernel writes them.
const (
	isEstablished = "01"
	isListening   = "0A"
)

// ports gives the inodes of the sockets of a state in a process's network
// namespace, by local port.
func ports(pid int, state string) map[int]map[string]bool {
	out := map[int]map[string]bool{}
	for _, name := range []string{"tcp", "tcp6"} {
		f, err := os.Open(fmt.Sprintf("/proc/%d/net/%s", pid, name))
		if err != nil {
			continue
		}
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			// columns: sl, local address, remote address, state, ..., inode
			fields := strings.Fields(lines.Text())
			if len(fields) < 10 || fields[3] != state {
				continue
			}
			_, hex, _ := strings.Cut(fields[1], ":")
			port, err := strconv.ParseUint(hex, 16, 16)
			if err != nil {
				continue
			}
			if out[int(port)] == nil {
				out[int(port)] = map[string]bool{}
			}
			out[int(port)]["socket:["+fields[9]+"]"] = true
		}
		f.Close()
	}
	return out
}

// Sockets lists a process's open sockets by the kernel's names; none for a
// process that has ended.
func Sockets(pid int) []string {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd"
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	var out []string
	for _, name := range names {
		if to, err := os.Readlink(dir + "/" + name); err == nil && strings.HasPrefix(to, "socket:") {
			out = append(out, to)
		}
	}
	return out
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
