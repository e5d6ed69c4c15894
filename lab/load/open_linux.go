package main

// unscheduled is when a request was due that no schedule asked for.
const unscheduled = -1

// pump notices what has fallen due, and sends it. How late that is is the
// client's own; what then waits for a connection waits for the server.
func (w *thread) pump() {
	l := w.lane
	for {
		at := l.at(l.noticed)
		if at > w.now || w.phase == counting && at >= w.load.finish.Load() {
			return
		}
		if w.phase == counting && w.slot.Counts && w.load.counts(at) {
			l.lag.add(w.now - at)
		}
		l.noticed++
		w.dispatch()
		w.now = w.load.clock.now()
	}
}

// dispatch sends what is due on connections that can take it.
func (w *thread) dispatch() {
	l := w.lane
	for l.waiting() {
		c := l.taker()
		if c == nil {
			return
		}
		at := l.at(l.taken)
		l.taken++
		w.send(c, 1, at)
		l.offer(c)
	}
}

// giveUp counts what was due and has not been sent when the slot ends.
func (w *thread) giveUp() {
	l, finish := w.lane, w.load.finish.Load()
	for at := l.at(l.taken); at < finish; at = l.at(l.taken) {
		w.unanswered(l, at, finish)
		l.taken++
	}
}

// unanswered counts a request that was due in what counts and got no answer: as
// late as is known, which is the least that it can be.
func (w *thread) unanswered(l *lane, due, now int64) {
	if w.slot.Counts && l == w.lane && w.load.counts(due) {
		l.unanswered++
		l.latency.add(now - due)
	}
}
