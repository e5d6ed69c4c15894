package load

import "testing"

// The threads' parts of a schedule make the whole: each request occurs once and at its
// time.
func TestSchedule(t *testing.T) {
	const rate, threads, n = 300.0, 3, 900
	due := map[int64]int{}
	for thread := range threads {
		s := newSchedule(rate, thread, threads)
		s.begin(1000)
		for k := range int64(n / threads) {
			due[s.at(k)]++
		}
	}
	for i := range n {
		at := int64(1000) + int64(float64(i)*1e9/rate)
		if due[at] != 1 {
			t.Fatalf("request %d is due at %d, %d times", i, at, due[at])
		}
	}
}

// Even after hours of load no request drifts from its time.
func TestScheduleDoesNotDrift(t *testing.T) {
	s := newSchedule(1e6/3, 0, 1)
	s.begin(0)
	if at := s.at(1_200_000_000); at != 3600e9 {
		t.Errorf("request 1,200,000,000 is due at %d", at)
	}
}
