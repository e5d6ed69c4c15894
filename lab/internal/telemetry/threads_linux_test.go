package telemetry

import (
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// A thread that was started after the survey must be in the next sample: by the
// next survey the window may be half over, and a client at its limit would seem
// to have room.
func TestThreadsThatTheSurveyDidNotSee(t *testing.T) {
	known := []member{{pid: os.Getpid()}}
	stop, started := make(chan struct{}), make(chan struct{})
	defer close(stop)
	var id int
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine
		id = syscall.Gettid()
		close(started)
		<-stop
	}()
	<-started
	threads := map[int]time.Duration{}
	one := processes(known, threads)
	if _, seen := threads[id]; !seen || len(one) != 1 || len(threads) < one[0].threads-1 {
		t.Errorf("thread %d seen: %v; %d of %d threads were read", id, seen, len(threads), one[0].threads)
	}
}
