package main

import "syscall"

// diesWithParent asks the kernel to kill a worker when its master dies, even by SIGKILL. Fiber's own check
// looks every half second whether the parent is process 1, and where a subreaper adopts orphans it never is.
func diesWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
