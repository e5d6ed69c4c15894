package main

import (
	"fmt"
	"sync"
	"time"
)

// A log gets a line of a wait this often.
const logEvery = 10 * time.Second

// Wait shows the progress of something that takes a known time, until the returned
// function is called. The reporter must not be used meanwhile.
func (r *reporter) Wait(what string, length time.Duration) (end func()) {
	began := r.now()
	r.width = 0
	r.waited(what, 0, length)
	every := logEvery
	if r.terminal {
		every = time.Second
	}
	ended := make(chan struct{})
	var ticks sync.WaitGroup
	ticks.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-ended:
				return
			case <-tick.C:
				r.waited(what, r.now().Sub(began), length)
			}
		}
	})
	return func() {
		close(ended)
		ticks.Wait()
		if r.terminal {
			r.rewrite("")
		}
	}
}

// waited shows how far it is.
func (r *reporter) waited(what string, over, length time.Duration) {
	text := fmt.Sprintf("%s: %s of %s, %s left", what, short(min(over, length)), short(length), short(length-over))
	if over >= length {
		text = what + ": waiting for the last answers"
	}
	if r.terminal {
		r.rewrite("  " + text)
	} else {
		fmt.Fprintln(r.out, text)
	}
}
