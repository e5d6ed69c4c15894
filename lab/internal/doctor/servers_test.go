package doctor

import (
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/experiment"
)

func TestServersThatAreNotHere(t *testing.T) {
	margin := 0.1
	design := func(name string, servers map[string]*experiment.Server, levels ...any) *experiment.Experiment {
		x, err := experiment.Make(experiment.Experiment{
			Name: name, Entry: "9", Title: "t", Question: "q", Metrics: []string{"throughput_rps"}, BudgetS: 60,
			Servers:  servers,
			Topology: experiment.Topology{Kind: "loopback"}, Block: experiment.Block{SlotS: 0.1, Rounds: 2, WarmupS: 0.1},
			Settings: map[string]any{"route": "/read", "generator": "http_load", "connections": 8},
			Factors:  []experiment.Factor{{Name: "server", Levels: levels}},
			Claims: []experiment.Claim{{ID: "c", Kind: experiment.Flat, Text: "t", Why: "w", Metric: "throughput_rps",
				Over: "server", Margin: &margin}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	programPath(t, "there")
	m := Machine{Root: t.TempDir()}
	m.Experiments = []*experiment.Experiment{
		design("peers", map[string]*experiment.Server{
			"hyper":      {Command: ".tools/bin/hyper {addr}", Build: "peers", Needs: []string{"there"}},
			"nginx-like": {Command: ".tools/bin/wrapper {addr}", Program: "/bin/sh", Build: "peers", Needs: []string{"/bin/sh"}},
			"ntex":       {Command: ".tools/bin/ntex {addr}", Build: "peers", Needs: []string{"cargo"}},
		}, "hyper", "nginx-like", "ntex"),
		design("own", nil, "fiber", "null"), // make build makes them, as it does the lab
	}
	fs := m.servers()
	var said []string
	for _, f := range fs {
		said = append(said, strings.Join([]string{string(f.Level), f.About, f.Seen, f.Means, f.Mend}, "|"))
	}
	if want := []string{
		"limit|the hyper server|lacking .tools/bin/hyper|claims about it are not applicable|make peers",
		// Its program is installed, and what starts it is not built.
		"limit|the nginx-like server|lacking .tools/bin/wrapper|claims about it are not applicable|make peers",
		"limit|the ntex server|lacking cargo|claims about it are not applicable|",
	}; !slices.Equal(said, want) {
		t.Errorf("%q", said)
	}
}
