package main

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/load"
	"github.com/line-rate/line-rate/lab/servers/fanout/hub"
)

// Events are read however they are cut, and their ids are held against each other. A stream that is none is refused.
func TestAStreamOfEvents(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", r.URL.Query().Get("type"))
		flush := http.NewResponseController(w).Flush
		_ = flush()
		text := ""
		for _, id := range []uint64{1, 2, 5, 4, 5, 6} {
			text += string(hub.AppendText(nil, id, 0, 1, time.Now().UnixNano()))
		}
		for part := range slices.Chunk([]byte(text), 50) {
			time.Sleep(20 * time.Millisecond)
			_, _ = w.Write(part)
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
	if seen.n != 18 || seen.repeated != 6 || slot.Requests > 18 || sum.Answered != 18 || sum.Open != 3 || sum.Fault != "" {
		t.Errorf("%+v, %+v", seen, sum)
	}
	if d := seen.delivery.Latency(); d == nil || d.N != 18 || d.Max > 1 || seen.first.Latency().N != 3 {
		t.Errorf("%+v, %+v", d, seen.first.Latency())
	}
	if _, _, sum := read("text/plain"); !strings.Contains(sum.Fault, `header Content-Type is "text/plain"`) {
		t.Errorf("no stream of events was read as one: %+v", sum)
	}
}
