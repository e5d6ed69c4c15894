//go:build !linux

package proc

import (
	"errors"
	"os"
	"time"
)

// A Stat has the fields of /proc/PID/stat, which is Linux's.
type Stat struct {
	Name                                              string
	State                                             byte
	Parent, Flags, CPU, Children, Threads, Began, RSS int
}

const kernelThread = 0

// Tick is the unit of times in /proc/PID/stat.
const Tick = 10 * time.Millisecond

// ReadStat always fails on this system.
func ReadStat(int) (Stat, error) { return Stat{}, errors.New("there is no /proc on this system") }

// Slurp reads a small file. This system has no /proc to be read often.
func Slurp(path string, _ []byte) ([]byte, error) { return os.ReadFile(path) }

// Time always fails.
func Time(int) (time.Duration, bool) { return 0, false }
