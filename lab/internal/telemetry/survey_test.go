package telemetry

import (
	"slices"
	"testing"
)

// theOthers has the processes outside the load: pid 50 is a shell with a child
// 51, and 60 runs on the client's core.
func theOthers(shell, child, third float64, childThere bool) map[int]other {
	os := map[int]other{
		50: {"sh", 1, seconds(shell), 0},
		60: {"backup", 1, seconds(third), 2},
	}
	if childThere {
		os[51] = other{"cc", 50, seconds(child), 1}
	}
	return os
}

// surveyed is a survey with other processes and nothing else.
func surveyed(s float64, os map[int]other) *survey {
	return &survey{at: at(s), others: os}
}

func TestLoadOfOthersIsTheirsByCore(t *testing.T) {
	p := pair()
	p[0].survey = surveyed(10, theOthers(1, 5, 100, true))
	p[1].survey = surveyed(12, theOthers(1, 6, 100.5, true))
	middle := sample{at: at(11), survey: surveyed(11, theOthers(1, 5.5, 100, true))}
	w := whole(sampler([]sample{p[0], middle, p[1]}), 1000)
	want := []Load{{"cc", 1, 0.5}, {"backup", 2, 0.25}}
	if !slices.Equal(w.Others, want) {
		t.Errorf("%v, want %v", w.Others, want)
	}
	// The server's cores are 0 and 1, the client's is 2.
	for name, v := range map[string]float64{"server_foreign_load": 0.5, "client_foreign_load": 0.25} {
		if w.Metrics[name] != v {
			t.Errorf("%s is %v, want %v", name, w.Metrics[name], v)
		}
	}
}

func TestWhatEndedChildrenHadUsedBeforeIsNotCounted(t *testing.T) {
	before := map[int]other{50: {"sh", 1, seconds(1), 0}, 51: {"make", 50, seconds(5), 0}, 52: {"cc", 51, seconds(3), 0}}
	for _, c := range []struct {
		name  string
		after map[int]other
		want  []Load
	}{
		{"the child's eight seconds, five of them its own before, are its parent's",
			map[int]other{50: {"sh", 1, seconds(1), 0}, 51: {"make", 50, seconds(13), 0}}, []Load{{"make", 0, 2.5}}},
		{"the child and its parent have ended",
			map[int]other{50: {"sh", 1, seconds(9.5), 0}}, []Load{{"sh", 0, 0.25}}},
		{"all have, and nobody is left to inherit", map[int]other{}, nil},
	} {
		p := pair()
		p[0].survey, p[1].survey = surveyed(10, before), surveyed(12, c.after)
		if w := whole(sampler(p), 1000); !slices.Equal(w.Others, c.want) {
			t.Errorf("%s: %v, want %v", c.name, w.Others, c.want)
		}
	}
}

func TestOneSurveyTellsNoLoad(t *testing.T) {
	p := pair()
	p[0].survey = nil
	w := whole(sampler(p), 1000)
	for _, name := range []string{"server_foreign_load", "client_foreign_load", "swap_pages", "tcp_retransmits"} {
		if v, ok := w.Metrics[name]; ok {
			t.Errorf("%s is %v", name, v)
		}
	}
}
