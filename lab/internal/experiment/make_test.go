package experiment

import (
	"slices"
	"strings"
	"testing"
)

// duel compares two servers, as a command makes it of its arguments.
func duel(old, other string) (*Experiment, error) {
	margin := 0.03
	return Make(Experiment{
		Name: "duel", Entry: "0", Title: "t", Question: "q", Metrics: []string{"server_cpu_per_request_s"}, BudgetS: 60,
		Topology: Topology{Kind: "loopback"}, Block: Block{SlotS: 0.1, Rounds: 4, WarmupS: 0.1},
		Servers:  map[string]*Server{"new": {Command: other}, "old": {Command: old}},
		Settings: map[string]any{"route": "/index.html", "generator": "http_load", "connections": 8, "pipelining": 1},
		Factors:  []Factor{{Name: "server", Levels: []any{"new", "old"}}},
		Claims: []Claim{{ID: "same", Kind: Flat, Text: "t", Why: "w", Metric: "server_cpu_per_request_s", Over: "server",
			Margin: &margin}},
	})
}

func TestAnExperimentInMemory(t *testing.T) {
	x, err := duel("./server-old --port {port}", "python3 -m http.server {port} --bind '{host}'")
	if err != nil {
		t.Fatal(err)
	}
	if conds := x.Conditions(); len(conds) != 2 || x.SHA256 == "" {
		t.Errorf("%v, %q", conds, x.SHA256)
	}
	words, env := x.Loaded()[0].Line(Place{Host: "127.0.0.1", Port: "9000"}, x.Fixed())
	if want := strings.Fields("python3 -m http.server 9000 --bind 127.0.0.1"); !slices.Equal(words, want) || len(env) > 0 {
		t.Errorf("%q %q", words, env)
	}
	if _, err := duel("./server --port {prot}", "x"); err == nil ||
		!strings.Contains(err.Error(), `servers.old: command: nothing is filled in for {prot}; did you mean "port"?`) {
		t.Errorf("%v", err)
	}
}
