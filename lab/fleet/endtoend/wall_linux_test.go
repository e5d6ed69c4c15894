package endtoend

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// 04-clients finds the wall that a fleet was given: in its clients' links, and in the
// server, whose every request takes long. Claims are decided on six blocks or more, so these
// runs take longer than all other tests.

func TestAloneTheClientsAreTheWall(t *testing.T) {
	found(t, []string{`route = "/simple"`, `route = "/read"`}, []string{"--client-rates", "100000000"}, map[string]string{
		"second-client-adds": "confirmed", "third-client-adds": "confirmed", "a-link-is-the-wall": "confirmed",
		"server-is-the-wall": "refuted",
	}, gate.BoundWire, "The clients' links are the wall: ")
}

func TestAloneTheServerIsTheWall(t *testing.T) {
	found(t, []string{`route = "/simple"`, "route = \"/read\"\nworkers = 1\nspin_ns = 1_000_000"}, nil, map[string]string{
		"second-client-adds": "refuted", "flat-at-the-server": "confirmed", "server-is-the-wall": "confirmed",
		"clients-are-the-wall": "refuted",
	}, gate.BoundServerCPU, "The server is the wall: ")
}

func found(t *testing.T, edits, options []string, verdicts map[string]string, wall gate.Bound, sentence string) {
	if testing.Short() {
		t.Skip("takes long")
	}
	const name = "lab/experiments/04-clients.toml"
	text, err := os.ReadFile(filepath.Join(top, name))
	if err != nil {
		t.Fatal(err)
	}
	// Fewer turns of fewer connections, as the machine has few cores for all hosts.
	edits = append(edits, "connections = 1000", "connections = 12", "rounds = 3", "rounds = 1")
	r := with(t, map[string]string{name: edited(t, string(text), edits)}, options...)
	before := others(t)
	s := finish(t, r.lab("run", "--topology", "fleet", "--inventory", r.Inventory(), "04-clients", "--budget", "150s"))
	if s.status > 2 {
		t.Fatalf("exit %d", s.status)
	}
	var wrong []string
	f := r.only()
	for _, trial := range f.Trials {
		wrong = append(wrong, faults(trial)...)
		if trial.Valid && three(trial) && trial.Bound != wall {
			wrong = append(wrong, fmt.Sprintf("trial %d with three clients is bounded by %s: %s", trial.Seq, trial.Bound,
				trial.BoundWhy))
		}
	}
	for claim, want := range verdicts {
		if !regexp.MustCompile(`(?m)^04-clients/` + claim + ` +` + want).MatchString(s.out) {
			wrong = append(wrong, claim+" is not "+want)
		}
	}
	if !strings.Contains(s.out, "04-clients: "+sentence) {
		wrong = append(wrong, "the terminal does not say: "+sentence)
	}
	if len(wrong) == 0 {
		return
	}
	// The hosts do not see what runs outside of them and takes their cores.
	if most := max(before, others(t)); most > 0.2 {
		t.Skipf("others use %.1f of this machine's cores, so nothing was decided: %s", most, strings.Join(wrong, "; "))
	}
	t.Error(strings.Join(wrong, "\n"))
}

// others is how many of the machine's cores are in use now, when no run goes on.
func others(t *testing.T) float64 {
	t.Helper()
	busy := func() (ticks float64) {
		text, err := os.ReadFile("/proc/stat")
		if err != nil {
			t.Fatal(err)
		}
		line, _, _ := strings.Cut(string(text), "\n")
		for i, f := range strings.Fields(line) {
			// user, nice, system, then idle and waiting for a disk, then what interrupts and
			// other guests took.
			if v, err := strconv.ParseFloat(f, 64); err == nil && i != 4 && i != 5 && i <= 8 {
				ticks += v
			}
		}
		return ticks
	}
	const hundredths = 100
	before, began := busy(), time.Now()
	time.Sleep(time.Second)
	return (busy() - before) / hundredths / time.Since(began).Seconds()
}

// three tells whether all three clients loaded in a trial.
func three(trial results.Trial) bool {
	for _, c := range trial.Clients {
		if !c.Loads() {
			return false
		}
	}
	return true
}
