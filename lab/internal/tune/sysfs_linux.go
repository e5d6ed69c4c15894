package tune

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// enterSys has /sys show this process's network namespace to this goroutine. The mount there shows the
// namespace of the process that mounted it. So after "nsenter --net" an interface is missing or, worse, is
// another one of the same name. No other process sees this mount, and it ends with this one. Who may not
// mount may not write either.
func enterSys() {
	runtime.LockOSThread()
	if unix.Unshare(unix.CLONE_NEWNS) == nil && unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") == nil {
		_ = unix.Mount("sysfs", "/sys", "sysfs", 0, "")
	}
}
