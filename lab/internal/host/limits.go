package host

import "golang.org/x/sys/unix"

// OpenFiles is how many files a process started by the lab may open.
func OpenFiles() (uint64, bool) {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return 0, false
	}
	return uint64(l.Cur), true
}
