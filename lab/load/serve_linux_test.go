package load

import (
	"context"
	"encoding/json"
	"io"
	"testing"
)

// A program in lockstep: a plan, then a slot at a time. Between turns nothing is in flight and the
// connections stay open; so what the server answered is what the turns say.
func TestTurnsThatAreToldOneByOne(t *testing.T) {
	s := serve(t, polite)
	in, tell := io.Pipe()
	hear, out := io.Pipe()
	ended := make(chan error)
	go func() { ended <- Serve(context.Background(), in, out, Options{}) }()
	say, heard := json.NewEncoder(tell), json.NewDecoder(hear)
	_ = say.Encode(Plan{Threads: 2, Targets: []Target{s.target(3, 2)}})
	answered := int64(0)
	for i := range 3 {
		_ = say.Encode(Slot{Seconds: 0.02, Counts: i > 0})
		var r SlotReport
		if err := heard.Decode(&r); err != nil {
			t.Fatal(err)
		}
		answered += r.Turn.Requests
		if r.Slot != i || r.Turn.Requests < r.Requests+6 || r.Turn.Seconds < r.Seconds || answered != s.hits.Load() {
			t.Errorf("%+v, %d were answered", r, s.hits.Load())
		}
	}
	tell.Close()
	var sum Summary
	if err := heard.Decode(&sum); err != nil {
		t.Fatal(err)
	}
	clean(t, sum.Targets[0])
	if err := <-ended; err != nil || sum.Targets[0].Answered != answered || s.connections.Load() != 3 {
		t.Errorf("%v, %+v, %d connections", err, sum.Targets[0], s.connections.Load())
	}
}
