package load

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"
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

// A caller that ends a load gets no report, and soon.
func TestALoadIsEnded(t *testing.T) {
	s := serve(t, polite)
	for _, rate := range []float64{0, 10} {
		ctx, cancel := context.WithCancel(t.Context())
		p := once(Target{Name: "a", URL: s.url, Connections: 1, Pipelining: 1, Rate: rate}, 60)
		time.AfterFunc(50*time.Millisecond, cancel)
		if r, err := Run(ctx, p, Options{}); err == nil || r != nil {
			t.Errorf("%v, %+v", err, r)
		}
	}
}

func TestPlansThatAreRefused(t *testing.T) {
	const good = `{"threads":1,"timeout_s":2,"targets":[{"name":"a","url":"http://127.0.0.1:1/","connections":2,"pipelining":50,
		"rate":0.5}],"slots":[{"target":0,"seconds":0.1}]}`
	for _, c := range []struct{ old, new, want string }{
		{good, "", "EOF"},
		{`"threads":1`, `"threads":1,"more":2`, "unknown field \"more\""},
		{`"threads":1`, `"threads":-1`, "threads is -1; give a number from 0 to 1024"},
		{`"connections":2`, `"connections":0`, "targets/0: connections is 0"},
		{`"connections":2`, `"connections":20001`, "targets/0: connections is 20001"},
		{`"pipelining":50`, `"pipelining":5000`, "targets/0: pipelining"},
		{`"rate":0.5`, `"rate":-1`, "rate is -1"},
		{`"http:`, `"ftp:`, "url"},
		{`"rate":0.5`, `"protocol":"h3"`, "protocol is \"h3\""},
		{`"rate":0.5`, `"insecure":true`, "insecure, ca, cert and sni are about certificates"},
		{`"url":"http:`, `"cert":"x","url":"https:`, "cert and key belong together"},
		{`"rate":0.5`, `"unix":"a"`, "unix is \"a\""},
		{`"rate":0.5`, `"close":true`, "pipelining is 50, and with close"},
		{`"rate":0.5`, `"requests":[{"method":"GET","path":""}]`, "targets/0: requests/0: path"},
		{`"target":0`, `"target":2`, "slots/0: there is no target 2"},
		{`"seconds":0.1`, `"seconds":0`, "slots/0: seconds"},
		{`"seconds":0.1`, `"seconds":1,"requests":-1`, "slots/0: requests"},
		{`"rate":0.5`, `"answers":"x"`, "Options.Bodies is missing"},
		{"nothing", "nothing", "nothing listens there"},
	} {
		err := Serve(t.Context(), strings.NewReader(strings.Replace(good, c.old, c.new, 1)), io.Discard, Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %q", c.new, err, c.want)
		}
	}
}
