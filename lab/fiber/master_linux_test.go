package main

import (
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestMasterKilled(t *testing.T) {
	for _, stopped := range []bool{false, true} {
		p, workers := startMaster(t)
		if stopped {
			// A stopped worker cannot check for its master, so only the kernel can end
			// it.
			for _, pid := range workers {
				if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
					t.Fatal(err)
				}
			}
		}
		p.signal(syscall.SIGKILL)
		deadline := time.Now().Add(time.Second)
		for anyRunning(workers) {
			if time.Now().After(deadline) {
				for _, pid := range workers {
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
				t.Fatalf("stopped %v: a worker outlives its killed master by a second", stopped)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
}

// The master waits until its workers are gone; it does not just kill them.
func TestAwaitGone(t *testing.T) {
	child := exec.Command("sleep", "60")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	m := &master{workers: []int{child.Process.Pid}}
	go func() {
		time.Sleep(100 * time.Millisecond)
		_ = child.Process.Kill()
		_ = child.Wait()
	}()
	m.awaitGone()
	if running(child.Process.Pid) {
		t.Error("returned while a worker was running")
	}
}

// A worker that ends without being told to by the master counts as lost, whatever ended it.
func TestWorkerLost(t *testing.T) {
	for _, c := range []struct {
		sig    syscall.Signal
		worker int
		ended  string
	}{
		{syscall.SIGKILL, 1, "signal: killed"},
		{syscall.SIGTERM, 0, "exit status 1"},
	} {
		t.Run(c.sig.String(), func(t *testing.T) {
			p, workers := startMaster(t)
			if err := syscall.Kill(workers[c.worker], c.sig); err != nil {
				t.Fatal(err)
			}
			<-p.done
			if anyRunning(workers) {
				t.Error("a worker outlives the master")
			}
			if code := p.exitCode(); code != 4 {
				t.Errorf("exit code %d, want 4", code)
			}
			want := fmt.Sprintf("fiber_server: lost a worker (pid %d: %s); stopping", workers[c.worker], c.ended)
			if len(p.all) != 5 || p.all[4] != want {
				t.Errorf("stderr:\n%s\nwant a last line %q", strings.Join(p.all, "\n"), want)
			}
		})
	}
}
