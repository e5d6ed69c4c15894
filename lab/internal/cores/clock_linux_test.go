package cores

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
)

func TestClocksGoOn(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	process, ok := ProcessTime(os.Getpid())
	thread, too := ThreadTime(syscall.Gettid())
	if !ok || !too {
		t.Fatal("the clocks of this very process cannot be read")
	}
	for n := 0; n < 1e7; n++ {
		_ = os.Getpid
	}
	// Read first, so that the thread's interval lies within the process's.
	h, _ := ThreadTime(syscall.Gettid())
	p, _ := ProcessTime(os.Getpid())
	if p <= process || h <= thread || h-thread > p-process {
		t.Errorf("a process's went from %v to %v, a thread of it from %v to %v", process, p, thread, h)
	}
}

func TestOneThatHasEndedHasNoClock(t *testing.T) {
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Skip(err)
	}
	if v, ok := ProcessTime(cmd.Process.Pid); ok {
		t.Errorf("%v", v)
	}
}
