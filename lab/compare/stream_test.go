package compare

import (
	"strings"
	"testing"
)

func TestStreamsThatDidNotDeliverAlikeSayHow(t *testing.T) {
	n := func(v float64) *float64 { return &v }
	for _, c := range []struct {
		name        string
		other, base *Stream
		want        string // what begins the reason; empty: they are alike
	}{
		{"alike", &Stream{Events: 1000, Lost: n(0), Published: true, Each: 1}, &Stream{Events: 990, Lost: n(0), Published: true, Each: 1}, ""},
		{"one in two hundred lost", &Stream{Events: 995, Lost: n(5), Published: true, Each: 0.995},
			&Stream{Events: 1000, Lost: n(0), Published: true, Each: 1}, ""},
		{"one in ten lost", &Stream{Events: 900, Lost: n(100), Published: true, Each: 0.9},
			&Stream{Events: 1000, Lost: n(0), Published: true, Each: 1}, "new lost 10.0 % of its events and old 0.0 %, so"},
		{"the base lost", &Stream{Events: 1000, Lost: n(0), Each: 100}, &Stream{Events: 750, Lost: n(250), Each: 75},
			"new lost 0.0 % of its events and old 25.0 %"},
		{"both lost the same share", &Stream{Events: 900, Lost: n(100), Published: true, Each: 0.9},
			&Stream{Events: 1800, Lost: n(200), Published: true, Each: 0.9}, ""},
		{"without ids, fewer of each publishing", &Stream{Events: 500, Published: true, Each: 0.5},
			&Stream{Events: 1000, Published: true, Each: 1}, "of each publishing new delivered 0.5 events to a stream and old 1, so"},
		{"none of some", &Stream{Published: true}, &Stream{Events: 1000, Published: true, Each: 1}, "of each publishing new delivered 0"},
		{"timers that differ a little", &Stream{Events: 970, Each: 97}, &Stream{Events: 1000, Each: 100}, ""},
		{"timers that differ", &Stream{Events: 500, Each: 50}, &Stream{Events: 1000, Each: 100},
			"new sent 50 events a second to a stream and old 100, so"},
		{"not measured", nil, &Stream{Each: 1}, ""},
	} {
		got := c.other.Unlike(c.base, "new", "old")
		if (got == "") != (c.want == "") || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestAnEventStandsForARequest(t *testing.T) {
	const says = "new costs 4.2 % more CPU a request than old"
	if got := (&Outcome{Unit: Event}).In(says); got != "new costs 4.2 % more CPU an event than old" {
		t.Error(got)
	}
	if got := (&Outcome{}).In(says); got != says {
		t.Error(got)
	}
}
