package run

import (
	"context"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// profiling is a design that takes profiles, which are of whole seconds.
var profiling = design{settings: longBlock.settings, block: "slot_s = 1\nrounds = 1\nwarmup_s = 0.1", more: "[profile]"}

// The null server serves no profiles.
func TestTheNullServerHasNoProfiles(t *testing.T) {
	x := design{settings: "generator = \"http_load\"\nserver = \"null\"\nconnections = 4"}.parse(t)
	if err := Profiles(t.Context(), Plan{Experiment: x}, nil); err == nil || err.Error() != "the null server has no profiles" {
		t.Errorf("%v", err)
	}
}

// All kinds are taken under either load generator, and become the trial's figures.
func TestTakingProfiles(t *testing.T) {
	p := newPlace(t)
	for _, settings := range []string{longBlock.settings, inPieces.settings} {
		d := profiling
		d.settings = settings
		e := p.engine(d.parse(t), loopback)
		l := e.plan.load(loopback, e.plan.Experiment.Fixed().With(e.file.Conditions[0].Levels), e.plan.Port)
		t.Run(l.generator, func(t *testing.T) {
			p := p
			p.t = t
			p.until(func() []results.Trial {
				g := &group{engine: e, conds: []int{0}, sequence: []int{0}, loads: []load{l}, profiles: taken{}, trials: []results.Trial{{Condition: "c1", Metrics: map[string]float64{"throughput_rps": 1000}}}}
				if err := freshSockets(p.root); err != nil {
					t.Fatal(err)
				}
				var err error
				if g.servers, err = startServers(t.Context(), g.loads); err != nil {
					t.Fatal(err)
				}
				defer stopServers(g.servers)
				if err := g.profiled(t.Context()); err != nil {
					t.Fatal(err)
				}
				if one := g.trials[0]; len(one.Reasons) == 0 && g.profiles[0] == nil || closed(one, gate.ProfileFailed, gate.ClientFailed) {
					t.Errorf("%q, %v", one.Reasons, g.profiles)
				}
				return g.trials
			}, func(trials []results.Trial) bool {
				one := trials[0]
				return len(one.Reasons) == 0 && len(one.Profiles) == len(profiles.Kinds()) && one.Metrics["profiled_throughput_share"] > 0 && one.Metrics["live_heap_bytes"] > 0
			})
			nothingRuns(t)
		})
	}
}

// A client that ends at once leaves no time for profiles, and one that fails says
// so of that window.
func TestAClientThatEndsBeforeItsProfiles(t *testing.T) {
	for what, c := range map[string]struct{ client, gate, says string }{
		"at once":              {measures, gate.ProfileFailed, "the client ended before the profiles of its window were taken"},
		"with an error":        {"echo no luck >&2; exit 1", gate.ClientFailed, "in the profiled window: the client failed (exit status 1): no luck"},
		"with the server gone": {endless, gate.ServerExited, "in the profiled window: the server exited in mid-trial: "},
	} {
		t.Run(what, func(t *testing.T) {
			serves := serve
			if c.gate == gate.ServerExited {
				serves = "sleep 0.2; exit 1"
			}
			g := (&scripted{[]string{serves}, c.client, time.Minute}).group(t)
			if err := freshSockets(g.loads[0].dir); err != nil {
				t.Fatal(err)
			}
			// Without any socket there is nothing to take.
			if err := g.profiled(t.Context()); err != nil || !slices.Equal(gatesOf(g.trials[0]), []string{gate.ProfileFailed}) {
				t.Errorf("%v, %v", err, g.trials[0].Reasons)
			}
			g.trials[0].Reasons = nil
			listen(t, g.loads[0])
			var err error
			if g.servers, err = startServers(t.Context(), g.loads); err != nil {
				t.Fatal(err)
			}
			defer stopServers(g.servers)
			if err := g.profiled(t.Context()); err != nil || len(g.trials[0].Reasons) != 1 || g.trials[0].Reasons[0].Gate != c.gate || !strings.HasPrefix(g.trials[0].Reasons[0].Detail, c.says) {
				t.Errorf("%v, %v", err, g.trials[0].Reasons)
			}
		})
	}
}

// The profiles of a condition's valid trials are merged, and named in the file.
func TestRawProfiles(t *testing.T) {
	m := newMadeUp(t, Plan{MaxBlocks: 3}, func(block, cond int) results.Trial {
		if block == 2 && cond == 0 {
			return bad(gate.Steal)
		}
		return good(1)
	})
	turn := m.turn
	m.turn = func(ctx context.Context, s []int) (measured, error) {
		got, err := turn(ctx, s)
		got.profiles = taken{0: aSet(t)} // of the first condition
		return got, err
	}
	made, err := m.blocks(t.Context(), &m.watching)
	if err != nil {
		t.Fatal(err)
	}
	first := made.File.Conditions[0]
	if len(made.Raw) != len(profiles.Kinds()) || len(first.Profiles) != len(profiles.Kinds()) || len(made.File.Conditions[1].Profiles) > 0 {
		t.Fatalf("%d raw profiles, %+v", len(made.Raw), made.File.Conditions)
	}
	for _, raw := range first.Profiles {
		if raw.Trials != 2 || !strings.HasPrefix(raw.File, "x/"+made.File.Run+"/c1-") {
			t.Errorf("%+v", raw)
		}
		merged, err := profile.ParseData(made.Raw[raw.File])
		if err != nil || len(merged.Sample) != 1 || merged.Sample[0].Value[0] != 6 {
			t.Errorf("%v, %v", merged, err)
		}
	}
}

// listen puts a socket where a server's processes put theirs, by which nothing is
// to be had.
func listen(t *testing.T, l load) {
	t.Helper()
	socket, err := net.Listen("unix", filepath.Join(l.dir, pprofDir, "1.sock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { socket.Close() })
}

func aSet(t *testing.T) *profiles.Set {
	t.Helper()
	set := &profiles.Set{Merged: map[profiles.Kind]*profile.Profile{}}
	for _, kind := range profiles.Kinds() {
		f := &profile.Function{ID: 1, Name: "f"}
		l := &profile.Location{ID: 1, Line: []profile.Line{{Function: f}}}
		set.Merged[kind] = &profile.Profile{SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}}, PeriodType: &profile.ValueType{Type: "samples", Unit: "count"}, Function: []*profile.Function{f}, Location: []*profile.Location{l},
			Sample: []*profile.Sample{{Location: []*profile.Location{l}, Value: []int64{3}}}}
	}
	return set
}

// What a traced server is asked for is counted, and no claim is made of it.
func TestSyscalls(t *testing.T) {
	p := newPlace(t)
	x := design{settings: "generator = \"http_load\"\nserver = \"null\"\nconnections = 4", block: "slot_s = 0.1\nrounds = 2\nwarmup_s = 0.05"}.parse(t)
	var got []Calls
	err := Syscalls(t.Context(), p.plan(x), func(c Calls) { got = append(got, c) })
	if err != nil && len(got) == 0 {
		t.Skipf("this machine lets nobody trace: %v", err)
	}
	if err != nil || len(got) != 2 {
		t.Fatalf("%v, %d conditions", err, len(got))
	}
	for _, c := range got {
		if c.Tracer == "" || c.Requests <= 0 || c.Counts.Total() <= 0 {
			t.Errorf("%+v", c)
		}
	}
	nothingRuns(t)
}
