package load

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
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
	load := func(kind string) (seen Events, r *Report, err error) {
		p := once(Target{Name: "events", URL: s.URL + "/?type=" + kind, Protocol: EventStream, Connections: 3, Pipelining: 1}, 1)
		r, err = Run(t.Context(), p, Options{Events: &seen})
		return seen, r, err
	}
	seen, r, err := load("text/event-stream")
	if err != nil {
		t.Fatal(err)
	}
	sum := r.Summary.Targets[0]
	clean(t, sum)
	if seen.N != 18 || seen.Missed != 6 || seen.Reordered != 3 || seen.Repeated != 3 || r.Slots[0].Requests > 18 || sum.Answered != 18 || sum.Open != 3 {
		t.Errorf("%+v, %+v", seen, sum)
	}
	if d := seen.Delivery.Latency(); d == nil || d.N != 3 || d.Max > 1 || seen.First.Latency().N != 3 {
		t.Errorf("%+v, %+v", d, seen.First.Latency())
	}
	if _, _, err := load("text/plain"); err == nil {
		t.Error("no stream of events was read as one")
	}
}
