package main

import "golang.org/x/sys/unix"

// bindToMaster asks the kernel to kill this process when its master dies, even by
// SIGKILL. Fiber's own check looks every half second whether the parent is process 1, and
// where a subreaper adopts orphans it never is.
//
// The setting belongs to a pair of threads: the one that forked and the one that calls
// this. A Go thread ends only if a goroutine that is locked to it ends, and there is none
// here. The caller must check for a master that died before this call.
func bindToMaster() error {
	return unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0)
}
