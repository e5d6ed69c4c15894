package main

import (
	"errors"
	"slices"
	"testing"
	"time"
)

// The window is begun again after each rate that did not hold, and after a recovery. The
// limit is a rate that held for a whole window, or there is none.
func TestHold(t *testing.T) {
	for _, c := range []struct {
		name         string
		limit, held  int
		want, begins int
		recoveries   int // between the search and the end
	}{
		{"it holds at once", 9000, 0, 8724, 1, 1},
		{"the third rate holds", 9000, 8100, 7999, 3, 3},
		{"none of eight holds", 9000, 1000, 0, 8, 8},
		{"the system keeps up with none", 1000, 0, 0, 1, 0},
	} {
		m := &madeUp{limit: c.limit, held: c.held}
		limit, steps, err := search(m)
		if err != nil {
			t.Fatal(err)
		}
		searched, began := m.recovered, 0
		limit, steps, err = hold(m, limit, steps, func() error { began++; return nil })
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		if limit != nil {
			got = *limit
		}
		if got != c.want || began != c.begins || m.recovered-searched != c.recoveries {
			t.Errorf("%s: limit %d, %d windows, %d recoveries after the search; want %d, %d, %d; %+v", c.name, got, began,
				m.recovered-searched, c.want, c.begins, c.recoveries, steps)
		}
		if last := steps[len(steps)-1]; limit != nil && (!last.KeptUp || last.PerSecond != *limit) {
			t.Errorf("%s: the last step is %+v", c.name, last)
		}
	}
	gone := errors.New("gone")
	rate := 2000
	_, _, err := hold(&madeUp{limit: 9000}, &rate, []step{{PerSecond: 2000, KeptUp: true}}, func() error { return gone })
	if err != gone {
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
