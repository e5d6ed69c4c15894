package compare

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/line-rate/line-rate/lab/internal/telemetry"
)

// Adopt makes this process the parent of what its descendants leave behind. A
// server that goes into the background leaves its command's process group, and
// could not be found or ended otherwise.
func Adopt() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// leftBehind lists the processes that outlived the command that started them: the
// ones below this process that are in the group of none that it started itself.
// It must be asked only while the lab has no other process than a server that has
// just ended.
func leftBehind() []int {
	return slices.DeleteFunc(telemetry.Descendants(os.Getpid())[1:], func(pid int) bool {
		return zombie(pid)
	})
}

// zombie tells whether a process has ended and only waits to be asked for.
func zombie(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return strings.HasPrefix(rest, "Z") || strings.HasPrefix(rest, "X")
}

// sweep ends what servers left behind and waits until it is gone.
func sweep() {
	for range 100 {
		left := leftBehind()
		for _, pid := range left {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		for _, pid := range telemetry.Descendants(os.Getpid())[1:] {
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
		}
		if len(left) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// listens lists where a process or one below it listens on TCP.
func listens(pid int) []string {
	sockets := map[string]bool{}
	for _, p := range telemetry.Descendants(pid) {
		for _, s := range telemetry.Sockets(p) {
			sockets[s] = true
		}
	}
	var out []string
	for _, table := range []string{"tcp", "tcp6"} {
		f, err := os.Open(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		if err != nil {
			continue
		}
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			// columns: sl, local address, remote address, state, …, inode
			fields := strings.Fields(lines.Text())
			if len(fields) < 10 || fields[3] != "0A" || !sockets["socket:["+fields[9]+"]"] {
				continue
			}
			if at := address(fields[1]); at != "" && !slices.Contains(out, at) {
				out = append(out, at)
			}
		}
		f.Close()
	}
	return out
}

// address reads an address as /proc/net/tcp has it: words of four bytes in the
// machine's order, here little-endian, and the port.
func address(text string) string {
	words, port, _ := strings.Cut(text, ":")
	ip, err := hex.DecodeString(words)
	p, err2 := strconv.ParseUint(port, 16, 16)
	if err != nil || err2 != nil || len(ip)%4 != 0 {
		return ""
	}
	for i := 0; i < len(ip); i += 4 {
		slices.Reverse(ip[i : i+4])
	}
	return net.JoinHostPort(net.IP(ip).String(), strconv.FormatUint(p, 10))
}
