//go:build !linux

package leash

import "syscall"

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func heldAttributes() *syscall.SysProcAttr { return attributes() }
