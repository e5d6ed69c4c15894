package experiment

import (
	"strings"
	"testing"
)

func TestTheLockIsOfAllThatDecides(t *testing.T) {
	x := parse(t, whole)
	c := x.Claims[0]
	for _, change := range []struct {
		name, old, new string
		lock, bars     bool // whether they change
	}{
		{"the words", "It is flat.", "It is even.", false, false},
		{"the budget", "budget_s = 60", "budget_s = 600", false, false},
		{"the slot", "slot_s = 0.1", "slot_s = 0.2", true, false},
		{"the rounds", "rounds = 6", "rounds = 7", true, false},
		{"the warm-up", "warmup_s = 0.2", "warmup_s = 0.3", true, false},
		{"a setting", "connections = 100", "connections = 101", true, false},
		{"a level", "levels = [1, 2, 4]", "levels = [1, 2, 8]", true, false},
		{"the topology", "queue_s = 0.02", "queue_s = 0.03", true, false},
		{"the margin", "margin = 0.1", "margin = 0.2", true, true},
		{"the metric", "metric = \"throughput_rps\"", "metric = \"latency_p50_s\"", true, true},
		{"where it holds", "margin = 0.1", "margin = 0.1\nat = { pipelining = 10 }", true, true},
		{"what it needs", "margin = 0.1", "margin = 0.1\nneeds = { cores = 4 }", true, true},
		{"whom it is about", "margin = 0.1", "margin = 0.1\nabout = \"client\"", true, true},
		{"another claim", "at_least = 1.5", "at_least = 1.6", false, false},
	} {
		y := parse(t, strings.Replace(whole, change.old, change.new, 1))
		if got := x.Lock(c) != y.Lock(y.Claims[0]); got != change.lock {
			t.Errorf("%s: the lock changed: %v, want %v", change.name, got, change.lock)
		}
		if got := x.Bars(c) != y.Bars(y.Claims[0]); got != change.bars {
			t.Errorf("%s: the bars changed: %v, want %v", change.name, got, change.bars)
		}
		if got := y.Holds(x, c); got == change.lock {
			t.Errorf("%s: the claim still stands: %v", change.name, got)
		}
	}
}

// Claims without a wall that moves keep the lock that they had before there were such
// claims; the test below has one from then.
func TestTheLockIsOfTheWallThatMoves(t *testing.T) {
	moves := strings.Replace(whole, "kind = \"bound\"\ntext = \"The wire is the wall.\"\nwhy = \"Made up.\"\nbound = "+
		"\"wire\"\nneeds = { line_rate = true, cores = 4, bound = \"wire\" }",
		"kind = \"moves\"\ntext = \"It moves.\"\nwhy = \"Made up.\"\nover = \"workers\"\nfrom = \"wire\"\nto = "+
			"\"server-cpu\"\nmargin = 0.1\nneeds = { line_rate = true }", 1)
	x := parse(t, moves)
	for _, change := range [][2]string{{`to = "server-cpu"`, `to = "client-cpu"`},
		{`from = "wire"`, `from = "client-cpu"`}} {
		y := parse(t, strings.Replace(moves, change[0], change[1], 1))
		if x.Lock(x.Claims[4]) == y.Lock(y.Claims[4]) || x.Bars(x.Claims[4]) == y.Bars(y.Claims[4]) {
			t.Errorf("%s leaves the lock as it was", change[1])
		}
	}
}

// The length of a profile affects its content, so it is in the lock. A design
// without profiles keeps the lock from before that length could be set.
func TestTheLockIsOfTheLengthOfProfiles(t *testing.T) {
	x, longer := parse(t, profiling), parse(t, strings.Replace(profiling, "seconds = 2", "seconds = 3", 1))
	other := parse(t, strings.Replace(profiling, `compare = "workers"`, `compare = "pipelining"`, 1))
	for i, c := range x.Claims {
		if x.Lock(c) == longer.Lock(longer.Claims[i]) || longer.Holds(x, c) {
			t.Errorf("%s: longer profiles leave its lock as it was", c.ID)
		}
		if x.Lock(c) != other.Lock(other.Claims[i]) {
			t.Errorf("%s: its lock is of what pages compare", c.ID)
		}
	}
	x = parse(t, whole)
	if got, want := x.Lock(x.Claims[0]), "e92042905110d8dfedb415e7c0b65a247678ea7d2d50c9e5203f1a93fea244fc"; got != want {
		t.Errorf("without profiles the lock is %s, and it was %s", got, want)
	}
}

// What moved is named as the experiment's file writes it.
func TestWhatMovedIsNamed(t *testing.T) {
	was := parse(t, whole)
	for _, c := range []struct{ old, new, claim, want string }{
		{"It is flat.", "It is even.", "is-flat", ""},
		{"connections = 100", "connections = 101", "is-flat", ""},
		{"margin = 0.1", "margin = 0.2", "is-flat", "margin 0.2, before margin 0.1"},
		{"margin = 0.1", "margin = 0.1\nneeds = { bound = \"wire\", line_rate = true }", "is-flat",
			"needs.line_rate true, before needs.line_rate false"},
		{"margin = 0.1", "margin = 0.1\nat = { pipelining = 10 }", "is-flat", `at "pipelining=10", before at ""`},
		{"margin = 0.1", "margin = 0.1\nabout = \"client\"", "is-flat", `about "client", before about ""`},
		{`id = "is-flat"`, `id = "is-flatter"`, "is-flat", "it is gone"},
		{"at_least = 1.5", "at_most = 1.5", "more", "at_least absent, before at_least 1.5"},
		{"levels = [1, 2, 4]", "levels = [1, 2, 8]", "rises", ""},
	} {
		x := parse(t, strings.Replace(whole, c.old, c.new, 1))
		claim, ok := was.Claim(c.claim)
		if !ok {
			t.Fatalf("no claim %q", c.claim)
		}
		if got := x.Moved(was, claim); got != c.want {
			t.Errorf("%s: %q, want %q", c.new, got, c.want)
		}
	}
}
