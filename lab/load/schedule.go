package load

// A schedule is one thread's part of an open loop: each request is due at a time that is
// fixed before the first one is sent. Requests that wait are not a list but a range of
// numbers, so a backlog of any length takes no memory.
type schedule struct {
	epoch       int64   // ns of the load's clock
	every       float64 // ns between two requests of all threads
	first, step float64 // this thread has requests first, first+step, …
	noticed     int64   // the next request that becomes due
	taken       int64   // the next request to be sent
}

func newSchedule(rate float64, thread, threads int) schedule {
	return schedule{every: 1e9 / rate, first: float64(thread), step: float64(threads)}
}

// begin counts from 0 again.
func (s *schedule) begin(now int64) { s.epoch, s.noticed, s.taken = now, 0, 0 }

func (s *schedule) at(k int64) int64 {
	return s.epoch + int64((float64(k)*s.step+s.first)*s.every)
}

func (s *schedule) waiting() bool { return s.taken < s.noticed }
