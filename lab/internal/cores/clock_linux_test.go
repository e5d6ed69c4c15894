package cores

import (
	"os"
	"os/exec"
	"testing"
)

func TestClocksGoOn(t *testing.T) {
	process, ok := ProcessTime(os.Getpid())
	if !ok {
		t.Fatal("the clock of this very process cannot be read")
	}
	for n := 0; n < 1e7; n++ {
		_ = os.Getpid
	}
	if later, _ := ProcessTime(os.Getpid()); later <= process {
		t.Errorf("it went from %v to %v", process, later)
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
