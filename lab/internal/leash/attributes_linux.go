package leash

import "syscall"

func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// heldAttributes are those of a process that outlives the lab for as long as it takes
// to end, or to put back, what it holds.
func heldAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
