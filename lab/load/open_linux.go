package load

// unscheduled is the due time of a request that is not on the schedule.
const unscheduled = -1

// pump notices requests that have become due, and sends them. Being late with that is the
// client's own delay; the time that a request then waits for a connection is the
// server's.
func (w *thread) pump() {
	l := w.lane
	for {
		at := l.at(l.noticed)
		if at > w.now || w.phase == counting && at >= w.load.finish.Load() {
			return
		}
		if w.phase == counting && w.slot.Counts && w.load.counts(at) {
			l.lag.Add(w.now - at)
		}
		l.noticed++
		w.dispatch()
		w.now = w.load.clock.now()
	}
}

// dispatch sends requests that are due on connections that can take them.
func (w *thread) dispatch() {
	l := w.lane
	for l.waiting() && l.budget > 0 {
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

// giveUp counts requests that were due and are not sent when the slot ends.
func (w *thread) giveUp() {
	l, finish := w.lane, w.load.finish.Load()
	for at := l.at(l.taken); at < finish && l.budget > 0; at = l.at(l.taken) {
		w.unanswered(l, l.unsent, at, finish)
		l.taken++
	}
}

// unanswered counts a request of the counted window that got no answer, with the least
// latency that it can have: its age.
func (w *thread) unanswered(l *lane, among *Histogram, due, now int64) {
	if w.slot.Counts && l == w.lane && w.load.counts(due) {
		l.unanswered++
		among.Add(now - due)
	}
}
