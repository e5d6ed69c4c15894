//go:build !linux

package tune

import (
	"errors"
	"math"
	"os"
	"syscall"
)

// The knobs are Linux's. Elsewhere only made-up trees are left, which no test
// uses there either.
var errLinux = Unavailable{"the kernel's knobs are Linux's"}

func die()                                    { os.Exit(137) }
func cookie() uint64                          { return 0 }
func (m *machine) look() error                { return errLinux }
func (m *machine) allowed(knob) error         { return errLinux }
func ioctlSetChannels(string, channels) error { return errLinux }
func setRealLimit(int, limits) error          { return errLinux }
func ownedSafely(os.FileInfo) bool            { return true }
func machineRoot() bool                       { return os.Geteuid() == 0 }

func (m *machine) writable(target, string) error {
	if m.tree != "" {
		return nil
	}
	return errLinux
}

func ioctlChannels(string) (now, most channels, err error) { return now, most, errors.Join(errLinux) }

func apart() *syscall.SysProcAttr { return nil }

const infinite = uint64(math.MaxUint64)
