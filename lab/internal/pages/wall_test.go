package pages

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/check"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/madeup"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

// ramp is a design as 04-clients is, for fleets of up to three clients. The tests
// have no fleet of several machines, so its runs are made up.
func ramp(t *testing.T) *experiment.Experiment {
	t.Helper()
	text, err := os.ReadFile("testdata/clients.toml")
	if err != nil {
		t.Fatal(err)
	}
	x, err := experiment.Parse("clients", text)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// A fleet is how its trials come out with a number of clients.
type fleet func(clients int64) madeup.Came

func alike(clients int64, cores, link float64) (parts []madeup.Part) {
	for range clients {
		parts = append(parts, madeup.Part{Weight: 1, Cores: cores, Thread: cores, Link: link})
	}
	return parts
}

// on makes a run of the ramp on a fleet and decides it.
func (f fleet) on(t *testing.T, x *experiment.Experiment, clients ...string) (*verdict.File, *results.File) {
	t.Helper()
	less := x.Without(x.Beyond(len(clients))...)
	r := madeup.Run(madeup.Plan{
		Experiment: less, Hosts: results.Hosts{Server: "s", Client: clients[0], Clients: clients},
		Started: time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC), Seed: 7, Blocks: 12, Ended: results.Decided,
		Trial: func(levels setting.Levels, _ int, _ bool) madeup.Came {
			n, _ := levels[setting.Clients].Int()
			return f(n)
		},
	})
	for _, levels := range x.Beyond(len(clients)) {
		r.Provenance.LeftOut = append(r.Provenance.LeftOut,
			results.LeftOut{Levels: levels, Why: "the fleet has fewer clients"})
	}
	if err := check.File(r, x); err != nil {
		t.Fatalf("the made-up run is none that the lab could make: %v", err)
	}
	said := verdict.Decide(x, &host.Profile{ID: "s", Cores: 16}, []verdict.Run{{File: r, Then: x}})
	Fill(said, x)
	return said, r
}

// Fleets of each kind, as they come out with one, two and three clients. The
// claims that are reproduced are the right ones, and no other.
func TestTheWallIsFoundBothWays(t *testing.T) {
	x := ramp(t)
	three := []string{"a", "b", "c"}
	for _, c := range []struct {
		name    string
		fleet   fleet
		clients []string
		holds   string // the claims that are reproduced
		says    []string
	}{
		{"the clients' CPU", func(n int64) madeup.Came {
			return madeup.Came{ServerBusy: 0.25 * float64(n), Parts: alike(n, 0.97, 0.2)}
		}, three, "second-adds third-adds clients",
			[]string{"The clients are the wall: 3 clients reach 1.5",
				"times the throughput of 2, and the CPU of the fullest was full in 12 of 12 trials"}},
		{"the clients' links", func(n int64) madeup.Came {
			return madeup.Came{ServerBusy: 0.2 * float64(n), Parts: alike(n, 0.4, 0.96)}
		}, three, "second-adds third-adds link",
			[]string{"The clients' links are the wall: 3 clients reach 1.5", "the fullest link was full in 12 of 12 trials"}},
		{"one full client of three", func(n int64) madeup.Came {
			parts := alike(n, 0.5, 0.2)
			parts[0].Cores, parts[0].Thread = 0.98, 0.98
			return madeup.Came{ServerBusy: 0.25 * float64(n), Parts: parts}
		}, three, "second-adds third-adds clients", []string{"The clients are the wall", "the CPU of the fullest"}},
		{"the server's CPU", func(n int64) madeup.Came {
			return madeup.Came{ServerBusy: 0.97, Parts: alike(n, 0.8/float64(n), 0.1)}
		}, three, "flat server", []string{"The server is the wall: 3 clients reach",
			"its CPU was full in 12 of 12 trials, and no client was full there"}},
		{"the server's CPU, once there are two clients", func(n int64) madeup.Came {
			return madeup.Came{ServerBusy: min(0.97, 0.6*float64(n)), Parts: alike(n, []float64{0, 0.97, 0.8, 0.6}[n], 0.1)}
		}, three, "second-adds flat server", []string{"The server is the wall"}},
		{"the server's CPU, once there are three", func(n int64) madeup.Came {
			return madeup.Came{ServerBusy: min(0.97, 0.36*float64(n)), Parts: alike(n, []float64{0, 0.97, 0.97, 0.85}[n], 0.1)}
		}, three, "second-adds third-adds server",
			[]string{"With 3 clients the server's CPU is the wall, and 2 are too few for it"}},
		{"the server's link", func(n int64) madeup.Came {
			return madeup.Came{ServerBusy: 0.5, Parts: alike(n, 0.4/float64(n), 0.96)}
		}, three, "link", []string{"The server's link is the wall: 3 clients reach", "though the fullest link was full"}},
		{"clients on shared cores", func(n int64) madeup.Came {
			return madeup.Came{ServerBusy: 0.5, Parts: alike(n, 0.97, 0.1)}
		}, []string{"s", "s", "s"}, "clients",
			[]string{"A further client adds nothing, though one was full in 12 of 12 trials"}},
		{"nothing that is looked at", func(n int64) madeup.Came {
			return madeup.Came{ServerBusy: 0.5, Parts: alike(n, 0.3, 0.1)}
		}, three, "", []string{"A further client adds nothing, and no wall was seen to be met in most trials"}},
		{"two clients, the clients' CPU", func(n int64) madeup.Came {
			return madeup.Came{ServerBusy: 0.25 * float64(n), Parts: alike(n, 0.97, 0.2)}
		}, three[:2], "second-adds", []string{"The clients are the wall: 2 clients reach",
			"times the throughput of 1, and the CPU of the fullest was full in 12 of 12 trials"}},
		{"two clients, the server's CPU", func(n int64) madeup.Came {
			return madeup.Came{ServerBusy: 0.97, Parts: alike(n, 0.8/float64(n), 0.1)}
		}, three[:2], "", []string{"The server is the wall: 2 clients reach"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, r := c.fleet.on(t, x, c.clients...)
			var holds []string
			for _, said := range f.Claims {
				switch {
				case said.Verdict == verdict.Reproduced:
					holds = append(holds, said.ID)
				case said.Verdict == verdict.Invalid:
					t.Errorf("%s is invalid: %s", said.ID, said.Reason)
				}
				if third := said.ID != "second-adds"; third && len(c.clients) == 2 && said.Verdict != verdict.NotApplicable {
					t.Errorf("%s of two clients is %s: %s", said.ID, said.Verdict, said.Reason)
				}
			}
			if got := strings.Join(holds, " "); got != c.holds {
				for _, said := range f.Claims {
					t.Logf("%s: %s: %s", said.ID, said.Verdict, said.Reason)
				}
				t.Errorf("reproduced are %q, want %q", got, c.holds)
			}
			for _, want := range c.says {
				if !strings.Contains(f.Wall, want) {
					t.Errorf("%q does not say %q", f.Wall, want)
				}
			}
			if sum := OverHosts(x, nil, []Made{{f, x}},
				nil); len(sum.Fleets) != 1 || sum.Claims[0].Hosts[0].Who != sum.Fleets[0].Who ||
				sum.Fleets[0].Who == "s" {
				t.Errorf("the fleet is not told from its server alone: %+v", sum.Fleets)
			}
			if fl := fleetOf(r); len(fl.Conditions) != len(r.Conditions) {
				t.Errorf("%d conditions of %d", len(fl.Conditions), len(r.Conditions))
			}
		})
	}
}

// A run that lost too many blocks says that the question is open, and designs
// that compare something else say nothing.
func TestTheWallIsOpenWithoutEvidence(t *testing.T) {
	x := ramp(t)
	lost := fleet(func(n int64) madeup.Came {
		c := madeup.Came{ServerBusy: 0.25 * float64(n), Parts: alike(n, 0.97, 0.2)}
		if n == 3 {
			c.Reasons = []results.Reason{{Gate: "client-lost", Detail: "client 3 was lost in mid-run: it did not answer"}}
		}
		return c
	})
	f, _ := lost.on(t, x, "a", "b", "c")
	if !strings.Contains(f.Wall, "is open: it is not decided whether 3 clients reach more than 2") {
		t.Errorf("%q", f.Wall)
	}
	f.Fleet = nil
	if got := Wall(f, x); got != "" {
		t.Errorf("without a fleet: %q", got)
	}
}

func TestAFleetOnOneMachineIsCalledThat(t *testing.T) {
	for _, c := range []struct {
		machines   []int
		says, with string
	}{
		{[]int{0, 1, 2, 3}, "1 server and 3 clients on 4 machines", "with 3 clients on 3 machines"},
		{[]int{0, 1}, "1 server and 1 client on 2 machines", "with 1 client on 1 machine"},
		{[]int{0, 1, 1, 2}, "1 server and 3 clients on 3 machines", "with 3 clients on 2 machines"},
		{[]int{0, 0, 0, 0}, "1 server and 3 clients in network namespaces of one machine",
			"with 3 clients in namespaces of one machine"},
		{[]int{0, 0, 1}, "1 server and 2 clients on 2 machines, 1 of them on the server's own",
			"with 2 clients, 1 of them on the same machine"},
	} {
		if says, with := fleetWords(c.machines); says != c.says || with != c.with {
			t.Errorf("%v: %q, %q", c.machines, says, with)
		}
	}
}

// What each client did, and one full client of eight in words.
func TestEachClientOfAConditionHasItsRow(t *testing.T) {
	x := ramp(t)
	one := fleet(func(n int64) madeup.Came {
		parts := alike(n, 0.5, 0.125)
		parts[0] = madeup.Part{Weight: 2, Cores: 0.97, Thread: 0.991, Link: 0.25}
		return madeup.Came{ServerBusy: 0.25 * float64(n), Parts: parts}
	})
	_, r := one.on(t, x, "a", "b", "c", "d", "e", "f", "g", "h")
	f := fleetOf(r)
	three := f.Conditions[2]
	want := FleetClient{Client: 1, Share: "50.0 %", Cores: "97.0 %", Thread: "99.1 %", Link: "25.0 %",
		Bound: "client-cpu 12", Clock: "+0.00 ± 0.40 ms"}
	if len(three.Clients) != 3 || three.Clients[0] != want {
		t.Errorf("%+v", three.Clients)
	}
	if got := three.Clients[1]; got.Share != "25.0 %" || got.Bound != "unknown 12" || got.Clock != "+2.00 ± 0.40 ms" {
		t.Errorf("%+v", got)
	}
	if three.Says != "Client 1 of 3 that loaded was full, by its CPU; the others were not seen to be." {
		t.Errorf("%q", three.Says)
	}
	if got := f.Conditions[0].Says; got != "The only client that loaded was full, by its CPU." {
		t.Errorf("%q", got)
	}
	for _, c := range []struct {
		full       []string
		walls      []string
		loading, n int
		want       string
	}{
		{[]string{"3"}, []string{"client-cpu"}, 8, 8, "Client 3 of 8 was full, by its CPU; the others were not seen to be."},
		{[]string{"1", "3"}, []string{"wire"}, 8, 8,
			"Clients 1 and 3 of 8 were full, each by its link; the others were not seen to be."},
		{[]string{"1", "2"}, []string{"wire", "client-cpu"}, 2, 2,
			"All of the clients were full, each by its CPU or its link."},
		{[]string{"2"}, []string{"wire"}, 2, 3,
			"Client 2 of 2 that loaded was full, by its link; the other one was not seen to be."},
		{nil, nil, 8, 8, "No client was seen to be full."},
	} {
		walls := map[string]bool{}
		for _, w := range c.walls {
			walls[w] = true
		}
		if got := fullText(c.full, walls, c.loading, c.n); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
