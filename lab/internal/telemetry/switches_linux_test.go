package telemetry

import (
	"os"
	"runtime"
	"testing"
	"time"
)

// A thread that sleeps ten times has gone to sleep ten times, and is counted from nought if it is new.
func TestSwitchesAreThoseOfAllThreads(t *testing.T) {
	own := []int{os.Getpid()}
	before, forks := SwitchesOf(own), Forks()
	done, end := make(chan bool), make(chan bool)
	go func() {
		runtime.LockOSThread()
		defer close(end)
		for range 10 {
			time.Sleep(time.Millisecond)
		}
		done <- true
		<-done
	}()
	<-done
	got, begun, _ := SwitchesOf(own).Since(before)
	if got[0] < 10 || Forks() < forks+int64(begun) || len(before) == 0 {
		t.Errorf("%d switches, %d threads more, %d started of %d", got, begun, Forks(), forks)
	}
	done <- true
	<-end
	was := Switches{1: {10, 2}, 2: {5, 5}, 3: {7, 0}}
	if got, begun, ended := (Switches{1: {12, 3}, 4: {1, 1}}).Since(was); got != [2]int64{3, 2} || begun != 1 || ended != 2 {
		t.Error(got, begun, ended)
	}
}
