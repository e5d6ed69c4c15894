package telemetry

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// A Held is what a server's processes were and held at one time.
type Held struct {
	Processes   []HeldBy // in the order asked for; those that have ended are missing
	Connections int      // established, of all of them
	RSS         int      // bytes, all of them; pages they share count for each
}

// A HeldBy is one process of it.
type HeldBy struct {
	PID         int
	Threads     int
	Connections int // established to the server's port that it has open
}

// A Listening is a server to be looked at: its processes and its port.
type Listening struct {
	PIDs []int
	Port int
}

// Census looks at the processes of servers in one network namespace, and at which
// of them has the established connections to its server's port that it has open. It
// reads which socket is whose, so that a connection that another program took is not
// among them. The namespace is read once for all: it takes many milliseconds.
func Census(servers ...Listening) []Held {
	out := make([]Held, len(servers))
	var sockets map[int]map[string]bool // by port, as the first process that lives sees them
	for i, s := range servers {
		for _, pid := range s.PIDs {
			st, err := readStat(pid)
			if err != nil {
				continue
			}
			if sockets == nil {
				sockets = established(pid)
			}
			h, one := &out[i], HeldBy{PID: pid, Threads: st.threads}
			for _, socket := range Sockets(pid) {
				if sockets[s.Port][socket] {
					one.Connections++
				}
			}
			h.Processes = append(h.Processes, one)
			h.Connections += one.Connections
			h.RSS += st.rss
		}
	}
	return out
}

// established gives the inodes of the established connections in a process's network
// namespace, by local port.
func established(pid int) map[int]map[string]bool {
	out := map[int]map[string]bool{}
	for _, name := range []string{"tcp", "tcp6"} {
		f, err := os.Open(fmt.Sprintf("/proc/%d/net/%s", pid, name))
		if err != nil {
			continue
		}
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			// sl, local address, remote address, state, ..., inode
			fields := strings.Fields(lines.Text())
			if len(fields) < 10 || fields[3] != "01" {
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

// Sockets lists the sockets that a process has open, as the kernel names them; none
// of one that has ended.
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
