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

// Census looks at a server's processes, and at which of them has the established
// connections to its port. It reads which socket is whose, so that a connection
// that another program took is not among them.
func Census(pids []int, port int) Held {
	var h Held
	var inodes map[string]bool // of the first that lives: all are in one namespace
	for _, pid := range pids {
		st, err := readStat(pid)
		if err != nil {
			continue
		}
		if inodes == nil {
			inodes = established(pid, port)
		}
		one := HeldBy{PID: pid, Threads: st.threads}
		for _, socket := range Sockets(pid) {
			if inodes[socket] {
				one.Connections++
			}
		}
		h.Processes = append(h.Processes, one)
		h.Connections += one.Connections
		h.RSS += st.rss
	}
	return h
}

// established gives the inodes of the established connections to a local port in
// a process's network namespace.
func established(pid, port int) map[string]bool {
	out := map[string]bool{}
	for _, name := range []string{"tcp", "tcp6"} {
		f, err := os.Open(fmt.Sprintf("/proc/%d/net/%s", pid, name))
		if err != nil {
			continue
		}
		suffix := fmt.Sprintf(":%04X", port)
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			// sl, local address, remote address, state, ..., inode
			fields := strings.Fields(lines.Text())
			if len(fields) > 9 && fields[3] == "01" && strings.HasSuffix(fields[1], suffix) {
				out["socket:["+fields[9]+"]"] = true
			}
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
