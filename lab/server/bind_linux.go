package main

import "golang.org/x/sys/unix"

// bindToMaster asks the kernel to kill this process when its master dies, even
// by SIGKILL. Fiber's own watch looks every half second whether the parent is
// process 1, and where a subreaper adopts orphans it never is.
//
// The setting belongs to the pair of threads, the one that forked and the one
// that calls: a Go thread ends only with a goroutine locked to it, and none is
// here. A master that died before this call is the caller's to notice.
func bindToMaster() error {
	return unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0)
}
