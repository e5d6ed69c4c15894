package tune

import (
	"fmt"
	"sync"

	"golang.org/x/sys/unix"
)

// ownSys is a view of /sys that shows this process's network namespace. The sysfs that is mounted
// shows the namespace of the process that mounted it, so after "nsenter --net" an interface is missing
// there or, worse, is another one of the same name. This one is mounted nowhere and ends with the
// process. It is empty without the right to make one; but who may not make one may not write either.
var ownSys = sync.OnceValue(func() string {
	fs, err := unix.Fsopen("sysfs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return ""
	}
	defer unix.Close(fs)
	if err := unix.FsconfigCreate(fs); err != nil {
		return ""
	}
	mount, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("/proc/self/fd/%d", mount)
})
