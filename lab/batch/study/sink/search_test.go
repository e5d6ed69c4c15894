package main

import (
	"errors"
	"slices"
	"testing"
	"time"
)

// The limit is a rate that held for a whole window, or there is none.
func TestHold(t *testing.T) {
	for _, c := range []struct{ held, want, windows int }{{9000, 8724, 1}, {8100, 7999, 3}, {1000, 0, mostHolds}} {
		windows := 0
		limit, err := hold(8724, func(rate int) (bool, error) {
			windows++
			return rate <= c.held, nil
		})
		if limit != c.want || windows != c.windows || err != nil {
			t.Errorf("%+v: limit %d after %d windows, %v", c, limit, windows, err)
		}
	}
	gone := errors.New("gone")
	if _, err := hold(2000, func(int) (bool, error) { return false, gone }); err != gone {
		t.Errorf("%v", err)
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
	_, addr := producing(t, "--variant", "pool-1", "--batch-size", "100", "--interval-ms", "50", "--queue", "100")
	others := sleeping()
	out := measured(t, addr, "--warmup", "0.2", "--duration", "1", "--latency-ms", "20", "--find-limit")
	late := others.tenth()
	if out.Limit < 2000 || out.Limit >= 8000 {
		if late > 2*time.Millisecond {
			t.Skipf("the machine is too busy: one that only sleeps wakes %v late, once in ten times", late)
		}
		t.Errorf("%+v", out)
	}
	if out.Offered < int64(out.Limit)*8/10 {
		t.Errorf("%d events were offered in a second at the limit, %d", out.Offered, out.Limit)
	}
}

// A system that keeps up with no rate has no limit.
func TestNoLimit(t *testing.T) {
	t.Parallel()
	_, addr := producing(t, "--variant", "pool-1", "--batch-size", "10", "--interval-ms", "50", "--queue", "10")
	if out := measured(t, addr, "--duration", "1", "--latency-ms", "50", "--find-limit"); out.Limit != 0 || out.Events == 0 {
		t.Errorf("%+v", out)
	}
}
