package endtoend

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// 04-clients finds the wall that a fleet was given: in its clients' links, and in the
// server, whose every request takes long. All of its claims and its control are decided
// on six blocks, so these runs take longer than all other tests.

func TestAloneTheClientsAreTheWall(t *testing.T) {
	found(t, []string{`route = "/simple"`, `route = "/read"`}, []string{"--client-rates", "10000000"}, map[string]string{
		"second-client-adds": "reproduced", "third-client-adds": "reproduced", "a-link-is-the-wall": "reproduced", "server-is-the-wall": "refuted",
	}, gate.BoundWire)
}

func TestAloneTheServerIsTheWall(t *testing.T) {
	found(t, []string{"prefork = true", "prefork = true\nworkers = 1\nspin_ns = 1_000_000"}, nil, map[string]string{
		"second-client-adds": "refuted", "flat-at-the-server": "reproduced", "server-is-the-wall": "reproduced", "clients-are-the-wall": "refuted",
	}, gate.BoundServerCPU)
}

func found(t *testing.T, edits, options []string, verdicts map[string]string, wall gate.Bound) {
	if testing.Short() {
		t.Skip("takes long")
	}
	const name = "lab/experiments/04-clients.toml"
	text, err := os.ReadFile(filepath.Join(top, name))
	if err != nil {
		t.Fatal(err)
	}
	// Shorter turns of fewer connections, as the machine has few cores for all hosts.
	edits = append(edits, "connections = 1000", "connections = 12", "slot_s = 0.4", "slot_s = 0.25", "rounds = 3", "rounds = 1", "budget_s = 140", "budget_s = 3600")
	const patience = 2
	for i := 1; ; i++ {
		r := with(t, map[string]string{name: edited(t, string(text), edits)}, options...)
		s := finish(t, r.lab("run", "--topology", "fleet", "--inventory", r.Inventory(), "04-clients", "--blocks", "6"))
		f := r.only()
		if s.status > 2 {
			t.Fatalf("exit %d", s.status)
		}
		valid := 0
		for _, trial := range f.Trials {
			if !trial.Valid {
				faultless(t, trial)
				continue
			}
			valid++
			if trial.Bound != wall && three(f, trial) {
				t.Errorf("trial %d with three clients is bounded by %s: %s", trial.Seq, trial.Bound, trial.BoundWhy)
			}
		}
		if valid < len(f.Trials) && i < patience {
			continue // the machine was busy: another run
		}
		if valid < len(f.Trials) {
			t.Skipf("the machine is too disturbed to measure on: %d runs had trials that only its weather made invalid", patience)
		}
		for claim, want := range verdicts {
			if !strings.Contains(s.out, "04-clients/"+claim+"  "+want) {
				t.Errorf("%s is not %s", claim, want)
			}
		}
		return
	}
}

// three tells whether all three clients loaded in a trial.
func three(f *results.File, trial results.Trial) bool {
	for _, c := range trial.Clients {
		if !c.Loads() {
			return false
		}
	}
	return true
}
