package load_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/line-rate/line-rate/lab/load"
)

// Two servers take turns, after a slot that only warms up.
func ExampleRun() {
	answer := func(text string) string {
		return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) })).URL
	}
	report, err := load.Run(context.Background(), &load.Plan{
		Threads: 1,
		Targets: []load.Target{
			{Name: "old", URL: answer("hello"), Connections: 2, Pipelining: 1},
			{Name: "new", URL: answer("hello, world"), Connections: 2, Pipelining: 1, Rate: 500}, // an open loop
		},
		Slots: []load.Slot{{Target: 0, Seconds: 0.05}, {Target: 0, Seconds: 0.1, Counts: true}, {Target: 1, Seconds: 0.1, Counts: true}},
	}, load.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range report.Summary.Targets {
		fmt.Println(t.Name, "answered", t.Requests > 0 && t.Latency.P99 > 0, "with faults", t.Errors+t.Non2xx+t.Mismatches)
	}
	// Output:
	// old answered true with faults 0
	// new answered true with faults 0
}
