package endpoint

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// longestPath is the longest path of a unix socket: 107 bytes on Linux, which needs one more for the end.
const longestPath = len(unix.RawSockaddrUnix{}.Path) - 1

// longestPid is the highest process id that Linux can be configured to give.
const longestPid = 4194304

// Check returns why sockets cannot be in dir. Profiles reveal what a process did, and anyone who can connect can slow it
// down. The directory must keep other users out, since not every system checks the mode of a socket.
func Check(dir string) error {
	info, err := os.Stat(dir)
	switch long := len(Path(dir, longestPid)) - longestPath; {
	case long > 0:
		return fmt.Errorf("%s is too long by %d: a socket's path, /PID.sock included, has at most %d bytes", dir, long, longestPath)
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%s does not exist; make it with mkdir -p -m 700", dir)
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory", dir)
	case int(info.Sys().(*syscall.Stat_t).Uid) != os.Geteuid():
		return fmt.Errorf("%s belongs to another user; give a directory of your own", dir)
	case info.Mode().Perm() != 0o700:
		return fmt.Errorf("%s has mode %04o, not 0700, which keeps others out; change it with chmod 700", dir, info.Mode().Perm())
	}
	return nil
}

// Path is the path of a process's socket, by process id.
func Path(dir string, pid int) string { return filepath.Join(dir, strconv.Itoa(pid)+".sock") }

// listen opens this process's socket in dir, for its user only.
func listen(dir string) (net.Listener, error) {
	path := Path(dir, os.Getpid())
	ln, err := net.Listen("unix", path)
	if errors.Is(err, syscall.EADDRINUSE) {
		// It was left by a killed process with the same id. In a separate pid namespace, as behind the lab's wire, ids repeat
		// soon; there, two living processes can even have the same one.
		if conn, err := net.Dial("unix", path); err == nil {
			conn.Close()
			return nil, fmt.Errorf("%s is in use; give each server a directory of its own", path)
		}
		_ = os.Remove(path)
		ln, err = net.Listen("unix", path)
	}
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		ln.Close()
		return nil, err
	}
	return ln, nil
}
