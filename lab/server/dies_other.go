//go:build !linux

package main

import "syscall"

// diesWithParent leaves the end of a worker without a master to Fiber's own check.
func diesWithParent() *syscall.SysProcAttr { return nil }
