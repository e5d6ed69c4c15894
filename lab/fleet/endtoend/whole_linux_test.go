package endtoend

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// The status with which a run ends that went through: a block is too few to decide.
const exitUndecided = 1

func TestAWholeRun(t *testing.T) {
	r := up(t, nil, "--rate", "800000000", "--client-rates", "200000000,300000000,400000000")
	s := finish(t, r.run("--blocks", "1"))
	f := r.only()
	if s.status > 2 {
		t.Fatalf("exit %d", s.status)
	}
	if f.Topology.Kind != "fleet" || f.Topology.LineRateBps != 800e6 || len(f.Hosts.Clients) != 3 || f.Machines() != 1 {
		t.Errorf("topology %+v, hosts %+v, %d machines", f.Topology, f.Hosts, f.Machines())
	}
	for i, want := range []float64{200e6, 300e6, 400e6} {
		if got := f.Provenance.Fleet.Clients[i].LineRateBps; got != want {
			t.Errorf("client %d has a link of %v bits a second, want %v", i+1, got, want)
		}
	}
	if len(f.Trials) == 0 {
		t.Fatal("no trial")
	}
	for _, trial := range f.Trials {
		var sum int64
		for i, c := range trial.Clients {
			if c.Requests == 0 || !c.Loads() {
				t.Errorf("trial %d: client %d had no answer, or no bound", trial.Seq, i+1)
			}
			sum += c.Requests
		}
		if len(trial.Clients) != 3 || float64(sum) != trial.Metrics["requests"] {
			t.Errorf("trial %d: %d clients with %d requests, of %v", trial.Seq, len(trial.Clients), sum,
				trial.Metrics["requests"])
		}
		for _, why := range faults(trial) {
			t.Error(why)
		}
	}
	r.check()
	r.private()
	r.clean()
}

// check asks that the journal of the controller is whole. The commit that its checkout is at
// lacks the sources of the programs, which git would be asked for.
func (r *rig) check() {
	r.t.Helper()
	if err := os.RemoveAll(r.Seen("controller", filepath.Join(r.Root("controller"), ".git"))); err != nil {
		r.t.Fatal(err)
	}
	if got := finish(r.t, r.lab("check")); got.status != 0 {
		r.t.Errorf("lab check exits %d after a run", got.status)
	}
}

// faults are the reasons for which a trial is invalid other than that the machine is busy,
// as this one is while it is tested. A client that is late on such a machine may have no
// answer at all.
func faults(trial results.Trial) (found []string) {
	for _, reason := range trial.Reasons {
		if g, ok := gate.Of(reason.Gate); !ok || g.Kind == gate.Fault && g.Name != gate.NoRequests {
			found = append(found, fmt.Sprintf("trial %d is invalid by %s: %s", trial.Seq, reason.Gate, reason.Detail))
		}
	}
	return found
}

// private asks that no file that a run has written holds what only the inventory may:
// addresses, names of hosts, the user, keys and directories.
func (r *rig) private() {
	r.t.Helper()
	key, err := os.ReadFile(filepath.Join(r.Dir, "key.pub"))
	if err != nil {
		r.t.Fatal(err)
	}
	machine, _ := os.Hostname()
	secrets := []string{"198.51.100.", ".fleet.test", "labuser", r.Dir, filepath.Base(r.Dir),
		strings.Fields(string(key))[1], "client1", "client2", "client3"}
	if len(machine) > 3 {
		secrets = append(secrets, machine)
	}
	seen := 0
	for _, name := range r.Names {
		for _, file := range r.data(name) {
			text, err := os.ReadFile(r.Seen(name, filepath.Join(r.Root(name), file)))
			if err != nil {
				r.t.Fatal(err)
			}
			seen++
			for _, secret := range secrets {
				if bytes.Contains(text, []byte(secret)) || strings.Contains(file, secret) {
					r.t.Errorf("%s on %s holds %q", file, name, secret)
				}
			}
		}
	}
	if seen == 0 {
		r.t.Error("no file was looked at")
	}
}
