package load

import "testing"

// Even after hours of load no request drifts from its time.
func TestScheduleDoesNotDrift(t *testing.T) {
	s := newSchedule(1e6/3, 0, 1)
	s.begin(0)
	if at := s.at(1_200_000_000); at != 3600e9 {
		t.Errorf("request 1,200,000,000 is due at %d", at)
	}
}
