package proc

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
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
	Threads     int
	Connections int // established connections to the server's port that it has open
}

// A Listening names the processes and the port of a server.
type Listening struct {
	PIDs []int
	Port int // 0: nobody asks for its connections
}

// Census reads, for servers in one network namespace, how many established connections to
// its server's port each process has open. It matches sockets to processes, so
// connections taken by another program are not counted. It reads the namespace's list
// once for all servers, since reading takes many milliseconds.
func Census(servers ...Listening) []Held {
	out := make([]Held, len(servers))
	var open map[string]Listener // as the first living process sees them
	for i, s := range servers {
		for _, pid := range s.PIDs {
			st, err := ReadStat(pid)
			if err != nil {
				continue
			}
			n := 0
			if s.Port > 0 {
				if open == nil {
					open = sockets(pid, isEstablished)
				}
				n = strict.Count(openSockets(pid), func(name string) bool { return open[name].Port == s.Port })
			}
			h := &out[i]
			h.Processes = append(h.Processes, HeldBy{Threads: st.Threads, Connections: n})
			h.Connections += n
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
		own := openSockets(pid)
		if len(own) == 0 {
			continue
		}
		open := sockets(pid, isListening)
		for _, name := range own {
			l, ok := open[name]
			if ok && !slices.ContainsFunc(on, func(o Listener) bool { return o.String() == l.String() }) {
				on = append(on, l)
			}
		}
	}
	slices.SortFunc(on, func(a, b Listener) int { return a.Port - b.Port })
	return on
}

// Listeners lists the processes that listen on a TCP port in this network namespace, as far
// as this user may look into them.
func Listeners(port int) (pids []int) {
	open := sockets(os.Getpid(), isListening)
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, path := range all {
		pid, _ := strconv.Atoi(filepath.Base(path))
		if slices.ContainsFunc(openSockets(pid), func(name string) bool { return open[name].Port == port }) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// States of a socket, as the kernel numbers them.
const (
	isEstablished = 1
	isListening   = 10
)

// sockets are the TCP sockets of a state in a process's network namespace, with the local address of each, by the
// names that lists of open files have for them.
func sockets(pid int, state uint64) map[string]Listener {
	all := map[string]Listener{}
	for _, list := range []string{"tcp", "tcp6"} {
		f, err := os.Open(fmt.Sprintf("/proc/%d/net/%s", pid, list))
		if err != nil {
			continue
		}
		for lines := bufio.NewScanner(f); lines.Scan(); {
			words := strings.Fields(lines.Text()) // number, local address, remote address, state, ...; the tenth is the inode
			if len(words) < 10 || words[0] == "sl" {
				continue
			}
			is, _ := strconv.ParseUint(words[3], 16, 8)
			if is == state {
				all["socket:["+words[9]+"]"] = listener(words[1])
			} else if state == isListening {
				break // the kernel lists those first, and reads on for milliseconds among thousands of others
			}
		}
		f.Close()
	}
	return all
}

// listener reads an address as the kernel prints it: words of four bytes, each in the machine's order, and the port.
func listener(text string) Listener {
	host, at, _ := strings.Cut(text, ":")
	ip, _ := hex.DecodeString(host)
	for word := range slices.Chunk(ip, 4) {
		binary.NativeEndian.PutUint32(word, binary.BigEndian.Uint32(word))
	}
	port, _ := strconv.ParseUint(at, 16, 16)
	return Listener{ip, int(port)}
}

// openSockets lists a process's open sockets by the kernel's names; none for a
// process that has ended.
func openSockets(pid int) []string {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return nil
	}
	open, _ := p.FileDescriptorTargets()
	return strict.Filter(open, func(to string) bool { return strings.HasPrefix(to, "socket:") })
}
