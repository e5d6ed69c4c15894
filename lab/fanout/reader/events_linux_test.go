package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/load"
)

// Events are read however they are cut, and their ids are held against each other. A stream that is none is refused.
func TestAStreamOfEvents(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", r.URL.Query().Get("type"))
		flush := http.NewResponseController(w).Flush
		_ = flush()
		for _, part := range []string{": a comment\n\nid: 1\nda", "ta: {\"at\": %d}\r\n\r\n", "id:2\ndata: x\n\nid:5\ndata: x\n\n",
			"id: 4\ndata: x\n\nid: 5\ndata: x\n\nid: 6\n\nevent: y\ndata: no id\n\n"} {
			time.Sleep(20 * time.Millisecond)
			if part[0] == 't' {
				part = fmt.Sprintf(part, time.Now().UnixNano())
			}
			fmt.Fprint(w, part)
			_ = flush()
		}
		<-r.Context().Done()
	}))
	defer s.Close()
	read := func(kind string) (*events, load.SlotReport, load.TargetSummary) {
		seen := &events{first: load.NewHistogram(), delivery: load.NewHistogram()}
		p := settings{server: strings.TrimPrefix(s.URL, "http://"), connections: 3, topics: 1}.streams()
		p.Targets[0].Requests[0].Path = "/?type=" + kind
		p.Slots = []load.Slot{{Seconds: 1, Counts: true}}
		r, err := load.Run(t.Context(), p, load.Options{Stream: seen.open})
		if err != nil {
			t.Fatal(err)
		}
		return seen, r.Slots[0], r.Summary.Targets[0]
	}
	seen, slot, sum := read("text/event-stream")
	if seen.n != 18 || seen.reordered != 3 || seen.repeated != 3 || slot.Requests > 18 || sum.Answered != 18 || sum.Open != 3 || sum.Fault != "" {
		t.Errorf("%+v, %+v", seen, sum)
	}
	if d := seen.delivery.Latency(); d == nil || d.N != 3 || d.Max > 1 || seen.first.Latency().N != 3 {
		t.Errorf("%+v, %+v", d, seen.first.Latency())
	}
	if _, _, sum := read("text/plain"); !strings.Contains(sum.Fault, `header Content-Type is "text/plain"`) {
		t.Errorf("no stream of events was read as one: %+v", sum)
	}
}
