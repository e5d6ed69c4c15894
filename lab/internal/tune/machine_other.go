//go:build !linux

package tune

// The knobs exist on Linux only; elsewhere this package only reports that.
var errLinux = Unavailable{"the kernel's knobs are Linux's"}

func cookie() uint64          { return 0 }
func (m *machine) see() error { return errLinux }
func initialUser() bool       { return true }
func realRoot(int) bool       { return false }
func access(string) error     { return errLinux }
