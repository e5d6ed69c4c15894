package load

import "slices"

// A ledger holds the decimal ids of a connection against each other.
type ledger struct {
	n                    int64 // events with a decimal id
	first, last, highest int64
	holes                [][2]int64 // ids that were skipped, from and to: the latest of them
}

// mostHoles is how many gaps in the ids a connection remembers. An id of an older gap that comes
// late is taken for a repeated one, and so is one below the first.
const mostHoles = 64

// note counts what the next id tells.
func (l *ledger) note(id int64, e *Events) {
	l.n++
	l.last = id
	switch {
	case l.n == 1:
		l.first, l.highest = id, id
	case id == l.highest+1:
		l.highest = id
	case id > l.highest:
		e.Missed += id - l.highest - 1
		if len(l.holes) == mostHoles {
			l.holes = slices.Delete(l.holes, 0, 1)
		}
		l.holes = append(l.holes, [2]int64{l.highest + 1, id - 1})
		l.highest = id
	case l.fill(id):
		e.Reordered++
	default:
		e.Repeated++
	}
}

// fill takes an id out of those that were skipped, and tells whether it was one of them.
func (l *ledger) fill(id int64) bool {
	i := slices.IndexFunc(l.holes, func(h [2]int64) bool { return h[0] <= id && id <= h[1] })
	if i < 0 {
		return false
	}
	h := l.holes[i]
	parts := slices.DeleteFunc([][2]int64{{h[0], id - 1}, {id + 1, h[1]}}, func(h [2]int64) bool { return h[0] > h[1] })
	l.holes = slices.Replace(l.holes, i, i+1, parts...)
	return true
}

// EventStream is the Protocol of a target whose connections each ask once, and get server-sent events
// from then on. A slot of it counts the events that come, and asks and waits for nothing.
//
// It reads what the lab's servers of events say: lines that end with LF or CR LF, the fields id and data.
const EventStream = "events"

// Events holds what came of an EventStream against itself, and against the publisher's clock.
// One thread counts in it; between turns others may read it.
type Events struct {
	N int64 // events
	// Events whose id is a decimal number, connection by connection: ids that were skipped, that came
	// twice, and that came after they had been skipped.
	Missed, Repeated, Reordered int64
	First                       *Histogram // times from a connection's opening to its first event
	Delivery                    *Histogram // from the field "at" of an event's data, in ns since 1970, to its reading

	opened int // connections so far, which ask for the target's requests in turn
}

// mostEventLine is the limit in bytes of a line.
const mostEventLine = 1 << 20
