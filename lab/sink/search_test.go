package main

import (
	"slices"
	"testing"
	"time"
)

// If a limit does not hold, the next lower rate that did becomes the limit.
func TestBelowIsTheNextRateThatWasKeptUpWith(t *testing.T) {
	steps := []step{{PerSecond: 2000, KeptUp: true}, {PerSecond: 4000, KeptUp: true}, {PerSecond: 8000}, {PerSecond: 5657, KeptUp: true}, {PerSecond: 6727}}
	for _, c := range []struct{ rate, want int }{{5657, 4000}, {4000, 2000}, {9000, 5657}} {
		if got := below(c.rate, steps); got == nil || *got != c.want {
			t.Errorf("below %d: %v, want %d", c.rate, got, c.want)
		}
	}
	if got := below(2000, steps); got != nil {
		t.Errorf("below the lowest: %d", *got)
	}
}

// A lateness is how late a goroutine that only sleeps wakes up, again and again.
type lateness struct {
	stop chan struct{}
	late chan []time.Duration
}

func sleeping() lateness {
	const each = 5 * time.Millisecond
	l := lateness{make(chan struct{}), make(chan []time.Duration, 1)}
	go func() {
		var all []time.Duration
		for {
			began := time.Now()
			select {
			case <-time.After(each):
				all = append(all, time.Since(began)-each)
			case <-l.stop:
				l.late <- all
				return
			}
		}
	}()
	return l
}

// tenth ends it, and returns the lateness that one waking in ten exceeded.
func (l lateness) tenth() time.Duration {
	close(l.stop)
	all := <-l.late
	slices.Sort(all)
	return all[len(all)*9/10]
}

// One worker, a hundred events a batch, twenty milliseconds each: that makes 5000 a
// second, and a step is too short to find the last tenths of that. If other programs use
// the processors, the limit is lower and takes longer to find.
func TestFindLimit(t *testing.T) {
	t.Parallel()
	_, url := producing(t, "--variant", "pool-1", "--batch-size", "100", "--interval-ms", "50", "--queue", "100")
	others := sleeping()
	out := measured(t, url, "--warmup", "0.2", "--duration", "1", "--latency-ms", "20", "--find-limit")
	late := others.tenth()
	if out.Limit == nil || *out.Limit < 2000 || *out.Limit >= 8000 || len(out.Steps) < 3 {
		if late > 2*time.Millisecond {
			t.Skipf("the machine is too busy: one that only sleeps wakes %v late, once in ten times", late)
		}
		t.Errorf("%+v", out)
	}
	// The window has the limit's rate, or the rate that was tried as the limit.
	if last := out.Steps[len(out.Steps)-1]; out.Offered < int64(last.PerSecond)*8/10 {
		t.Errorf("%d events were offered in a second at %d", out.Offered, last.PerSecond)
	}
	if out.End.Unaccounted > 0 {
		t.Errorf("%+v", out.End)
	}
}

// A system that keeps up with no rate has no limit; one step shows it.
func TestNoLimit(t *testing.T) {
	t.Parallel()
	_, url := producing(t, "--variant", "pool-1", "--batch-size", "10", "--interval-ms", "50", "--queue", "10")
	out := measured(t, url, "--duration", "1", "--latency-ms", "50", "--find-limit")
	if out.Limit != nil || len(out.Steps) != 1 || out.Steps[0].KeptUp || out.End.Unaccounted > 0 {
		t.Errorf("%+v", out)
	}
}
