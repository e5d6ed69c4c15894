package load_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/line-rate/line-rate/lab/load"
)

// Two servers take turns, after a slot each that only warms up.
func ExampleRun() {
	answer := func(text string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }))
		return s.URL
	}
	report, err := load.Run(context.Background(), &load.Plan{
		Threads: 1,
		Targets: []load.Target{
			{Name: "old", URL: answer("hello"), Connections: 2, Pipelining: 1},
			{Name: "new", URL: answer("hello, world"), Connections: 2, Pipelining: 1, Rate: 500}, // an open loop
		},
		Slots: []load.Slot{
			{Target: 0, Seconds: 0.05}, {Target: 1, Seconds: 0.05},
			{Target: 0, Seconds: 0.1, Counts: true}, {Target: 1, Seconds: 0.1, Counts: true},
			{Target: 1, Seconds: 0.1, Counts: true}, {Target: 0, Seconds: 0.1, Counts: true},
		},
	}, load.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for i, t := range report.Summary.Targets {
		client, rate := 0.0, 0.0 // seconds of CPU time, and of counted time
		for _, s := range report.Slots[2:] {
			if s.Target == i && s.Failed == "" {
				client, rate = client+s.ClientCPUS, rate+s.Seconds
			}
		}
		fmt.Println(t.Name, "answered", t.Requests > 0 && t.Latency.P99 > 0, "with faults", t.Errors+t.Non2xx+t.Mismatches,
			"at a known cost", client > 0 && rate >= 0.2)
	}
	// Output:
	// old answered true with faults 0 at a known cost true
	// new answered true with faults 0 at a known cost true
}
