package main

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"github.com/line-rate/line-rate/lab/internal/program"
)

// statusLost is an exit status in addition to those that all programs have: a worker ended
// without being asked to, so the trial is spoiled.
const statusLost = 4

// patience is how long the master waits for its workers at a stop. It is longer than their drainTime.
const patience = drainTime + 500*time.Millisecond

// lead serves with prefork: it starts the workers, which are Fiber's, passes a stop on to them, and tells a
// worker that was asked to end from one that was lost.
//
// It replaces Fiber's own master. It returns when the first worker ends and then kills the others,
// so at a stop the quickest would cut off the requests of the slowest, and it does not say which
// one was lost.
func lead(s settings) int {
	stop := program.Asked()
	// As process 1 it would start and be lost half a second later, when the workers first check for their
	// parent.
	if os.Getpid() == 1 {
		self.Say("--prefork: not as process 1, which Fiber's workers take for the sign of a dead master; start it under an " +
			"init or give --prefork=false")
		return program.Refused
	}
	// Without a look at the address a second server would start: workers listen with SO_REUSEPORT, and the
	// kernel would divide the connections between the two. A plain listen fails if any socket listens there.
	ln, status := listen(s.addr)
	if ln == nil {
		return status
	}
	addr := ln.Addr()
	_ = ln.Close()
	exe, err := os.Executable()
	if err != nil {
		self.Say("%v", err)
		return program.Failure
	}
	// The kernel takes the end of the thread that forked for the death of the parent, so this one lasts.
	runtime.LockOSThread()
	n := runtime.GOMAXPROCS(0)
	self.Say("master pid=%d workers=%d addr=%s", os.Getpid(), n, addr)
	var workers []*exec.Cmd
	ended := make(chan *exec.Cmd, n)
	end := func(sig os.Signal) {
		for _, w := range workers {
			_ = w.Process.Signal(sig) // it may have ended already
		}
	}
	gone := func(n int) bool { // waits until so many workers have ended
		late := time.After(patience)
		for range n {
			select {
			case <-ended:
			case <-late:
				return false
			}
		}
		return true
	}
	for range n {
		w := exec.Command(exe, os.Args[1:]...)
		w.Stdout, w.Stderr, w.SysProcAttr = os.Stdout, os.Stderr, diesWithParent()
		w.Env = append(os.Environ(), "FIBER_PREFORK_CHILD=1")
		if err := w.Start(); err != nil {
			self.Say("start a worker: %v", err)
			end(os.Kill)
			return program.Failure
		}
		workers = append(workers, w)
		go func() {
			_ = w.Wait() // what it ended with is in its state
			ended <- w
		}()
	}
	var lost *exec.Cmd
	select {
	case <-stop:
	case lost = <-ended:
		// Ctrl-C asks every process of the terminal, and a worker can have ended before the master knows.
		select {
		case <-stop:
			lost, n = nil, n-1
		case <-time.After(100 * time.Millisecond):
		}
	}
	if lost != nil {
		self.Say("lost a worker (pid %d: %v); stopping", lost.Process.Pid, lost.ProcessState)
		end(os.Kill)
		gone(n - 1)
		return statusLost
	}
	end(syscall.SIGTERM)
	if !gone(n) {
		end(os.Kill)
		gone(1)
	}
	return program.OK
}
