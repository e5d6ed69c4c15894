//go:build !linux

package proc

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// The lab starts, holds and reads servers on Linux only.

var errNotLinux = errors.New("servers are held on Linux only")

// Hold needs Linux.
func Hold(_ []string, _ io.ReadWriter, errs io.Writer) int {
	_, _ = io.WriteString(errs, errNotLinux.Error()+"\n")
	return NotFound
}

// Become needs Linux.
func Become([]int, []string) error { return errNotLinux }

func lifeline() (ours, theirs *os.File, err error) { return nil, nil, errNotLinux }

func attributes(bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// A Stat has the fields of /proc/PID/stat, which is Linux's.
type Stat struct {
	Name                                  string
	State                                 byte
	Parent, Children, Threads, Began, RSS int
}

// ReadStat needs Linux.
func ReadStat(int) (Stat, error) { return Stat{}, errNotLinux }

// Slurp needs Linux.
func Slurp(string, []byte) ([]byte, error) { return nil, errNotLinux }

// Time needs Linux.
func Time(int) (time.Duration, bool) { return 0, false }
