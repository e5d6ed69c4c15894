//go:build !linux

package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// Hold needs Linux.
func Hold(_ []string, _ io.ReadWriter, errs io.Writer) int {
	fmt.Fprintln(errs, "servers are held on Linux only")
	return 127
}

// Become needs Linux.
func Become([]int, []string) error { return errors.New("commands are put on cores on Linux only") }

func lifeline() (ours, theirs *os.File, err error) {
	return nil, nil, errors.New("servers are held on Linux only")
}

func attributes(bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
