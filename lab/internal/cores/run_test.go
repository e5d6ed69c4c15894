package cores

import (
	"testing"
	"time"
)

func TestRunTimeGoesOnWhileSomethingRuns(t *testing.T) {
	cpus, err := Allowed()
	before, ok := RunTime(cpus)
	if err != nil || !ok {
		t.Skip("this kernel does not tell", err)
	}
	for began := time.Now(); time.Since(began) < 200*time.Millisecond; {
	}
	if after, _ := RunTime(cpus); after-before < 50*time.Millisecond || after-before > time.Duration(len(cpus))*time.Second {
		t.Errorf("something ran for %v", after-before)
	}
	for _, none := range [][]int{nil, {1 << 16}, append([]int{1 << 16}, cpus...)} {
		if _, ok := RunTime(none); ok {
			t.Errorf("%v ran", none)
		}
	}
}
