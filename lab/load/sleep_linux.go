package main

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// sleeper gives this goroutine a thread of its own whose sleeps the kernel does
// not stretch: by default it may add 50 microseconds to each. Go's own timers
// were not used, since a busy scheduler looks at them when it gets to it.
func sleeper() (sleep func(time.Duration), done func()) {
	runtime.LockOSThread()
	// If this fails, the sleeps are longer, and send_lag_s says so.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	return func(d time.Duration) {
		t := unix.NsecToTimespec(int64(d))
		_ = unix.Nanosleep(&t, nil) // cut short by a signal: the caller looks at the clock
	}, runtime.UnlockOSThread
}
