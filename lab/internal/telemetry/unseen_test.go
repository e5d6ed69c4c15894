package telemetry

import (
	"testing"

	"github.com/prometheus/procfs"
)

// In a container other processes do not show, but the time that they take does.
func TestLoadOfHiddenProcessesIsForeign(t *testing.T) {
	for _, c := range []struct {
		name  string
		blind bool
		user  float64 // seconds that core 0 was busy in the two seconds of the window
		least float64
		most  float64
	}{
		{"all processes show", false, 2, 0, 0},
		{"others take the rest of the core", true, 2, 0.9, 1},
		{"nobody else ran", true, 0, 0, 0},
	} {
		s := sampler(pair())
		s.blind = c.blind
		s.targets.ServerCPUs, s.targets.ClientCPUs = []int{0}, []int{1}
		last := len(s.samples[0]) - 1
		for i := range s.samples[0] {
			one := &s.samples[0][i]
			used := c.user * float64(i) / float64(last)
			one.server, one.own = server(1, 1, 1, 6), 0 // which used nothing meanwhile
			one.cpus = map[int64]procfs.CPUStat{0: {User: used, Idle: 100 + 2*float64(i)/float64(last) - used},
				1: {Idle: 100 + 2*float64(i)/float64(last)}}
			if one.survey != nil {
				one.survey.others = nil
			}
		}
		m := whole(s, 1000).Metrics
		v, seen := m["server_foreign_load"]
		if !seen || v < c.least || v > c.most {
			t.Errorf("%s: foreign load of the server's core %v (seen: %v), want %v to %v", c.name, v, seen, c.least, c.most)
		}
		if v := m["client_foreign_load"]; v != 0 {
			t.Errorf("%s: foreign load of the client's idle core %v", c.name, v)
		}
	}
}
