package check

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/madeup"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// overLoopback is a design of two conditions in turns.
func overLoopback(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("../experiment/testdata/over-loopback.toml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func fleetRun(t *testing.T, text string, clients ...string) (*results.File, *experiment.Experiment) {
	t.Helper()
	x, err := experiment.Parse("made-up", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return madeup.Run(madeup.Plan{Experiment: x, Hosts: results.Hosts{Server: "h", Client: clients[0], Clients: clients},
		Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Seed: 11, Blocks: 2, Ended: results.Blocks}), x
}

// Any design can be measured on a fleet, and what a file says of the clients is
// held against the rest of it.
func TestAFleetsFileAddsUp(t *testing.T) {
	f, x := fleetRun(t, overLoopback(t), "i", "i", "h")
	if err := File(f, x); err != nil {
		t.Fatal(err)
	}
	if f.Machines() != 2 || f.SharedCores() {
		t.Errorf("%d machines, cores shared: %v", f.Machines(), f.SharedCores())
	}
	of := func(f *results.File) *results.Client { return &f.Trials[1].Clients[2] }
	for name, c := range map[string]struct {
		break_ func(*results.File)
		says   string
	}{
		"an answer that nobody counted": {func(f *results.File) { of(f).Requests-- }, "/trials/1/clients: "},
		"a client that is not there": {func(f *results.File) { f.Trials[1].Clients = f.Trials[1].Clients[:2] },
			"/trials/1/clients: 2 of a fleet of 3"},
		"no clients": {func(f *results.File) { f.Trials[1].Clients = nil },
			"/trials/1/clients: 0 of a fleet of 3"},
		"a clock that is not known": {func(f *results.File) { of(f).UncertaintyS = 0.006 }, "the gate clocks-unsure makes"},
		"a clock that is off":       {func(f *results.File) { of(f).OffsetS = -0.2 }, "the gate clocks-off makes"},
		"a clock that moved":        {func(f *results.File) { of(f).MovedS = 0.0051 }, "the gate clocks-off makes"},
		"a client that was late":    {func(f *results.File) { of(f).LateS = 0.5 }, "the gate clients-apart makes"},
		"a host that is not there": {func(f *results.File) { f.Hosts.Clients = f.Hosts.Clients[:2] },
			"/provenance/fleet/clients: 3, but"},
		"another first client": {func(f *results.File) { f.Hosts.Client = "h" }, "/hosts/client: "},
		"a machine of two names": {func(f *results.File) { f.Provenance.Fleet.Machines[3] = 1 },
			`/provenance/fleet/machines/3: one machine as "i" and as "h"`},
		"machines out of order": {func(f *results.File) { f.Provenance.Fleet.Machines[1] = 2 },
			"/provenance/fleet/machines/1: "},
		"another topology": {func(f *results.File) { f.Topology.Kind = "loopback" }, "/topology/kind: "},
		"a shaper's burst": {func(f *results.File) { f.Topology.BurstBytes = 1 }, "/topology: "},
		"no fleet":         {func(f *results.File) { f.Provenance.Fleet = nil }, "the run had no fleet"},
	} {
		f, x := fleetRun(t, overLoopback(t), "i", "i", "h")
		c.break_(f)
		if err := File(f, x); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}

func TestAConditionSaysHowManyClientsLoad(t *testing.T) {
	text := strings.NewReplacer(`kind = "loopback"`, `kind = "fleet"`, `"workers", levels = [1, 2]`,
		`"clients", levels = [1, 2]`, `over = "workers"`, `over = "clients"`).Replace(overLoopback(t))
	f, x := fleetRun(t, text, "i", "k")
	if err := File(f, x); err != nil {
		t.Fatal(err)
	}
	for _, trial := range f.Trials {
		one := f.Conditions[0].ID == trial.Condition || f.Conditions[len(f.Conditions)-1].ControlOf == "c1" &&
			trial.Condition == "c3"
		if trial.Clients[1].Loads() == one {
			t.Errorf("%s: %+v", trial.Condition, trial.Clients[1])
		}
	}
	// One that does not load has no figures.
	idle := slices.IndexFunc(f.Trials, func(t results.Trial) bool { return !t.Clients[1].Loads() })
	for name, of := range map[string]func(*results.Client){
		"cores_busy":      func(c *results.Client) { v := 0.2; c.CoresBusy = &v },
		"line_rate_share": func(c *results.Client) { v := 0.2; c.LineRateShare = &v },
		"requests":        func(c *results.Client) { c.Requests = 1 },
	} {
		f, x := fleetRun(t, text, "i", "k")
		of(&f.Trials[idle].Clients[1])
		if err := File(again(t, f), x); err == nil ||
			!strings.Contains(err.Error(), fmt.Sprintf("/trials/%d/clients/1/%s: ", idle, name)) {
			t.Errorf("%s of a client that does not load: %v", name, err)
		}
	}
	if n := results.Loading(setting.Levels{}, 5); n != 5 {
		t.Errorf("%d clients load where nothing says how many, want all", n)
	}
}
