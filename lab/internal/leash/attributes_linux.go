package leash

import "syscall"

func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// heldAttributes are those of a holder, which outlives the lab for as long as it
// takes to end what it holds.
func heldAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
