package experiment

import (
	"path/filepath"
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

// What had a kind of its own keeps the digest that runs have of it, by locks of recorded runs. And no two bars of a
// value have one digest.
func TestClaimsKeepTheLocksOfRecordedRuns(t *testing.T) {
	for claim, want := range map[string]string{
		"02-prefork-spreads/all-serve": "cb69e4a49af6f96d", "10-workers/one-master": "ca589fb1e141315c",
		"10-workers/workers-equal-gomaxprocs": "15ec6a9f1a86667d", "13-fan-out/all-accounted": "bd3a747011fdd3ed",
		"13-fan-out/reading-costs": "46b8f3bae364f481", "14-shards-used/eight-of-eight": "12b2d4815e2cea86",
		"01-servers/cost-rises": "fc054a3cd3f87acb", "aa-control/same-cost": "5c2f378dc89f3e6f",
	} {
		name, id, _ := strings.Cut(claim, "/")
		x, err := Load(filepath.Join(committed, name+".toml"))
		if err != nil {
			t.Fatal(err)
		}
		c, _ := x.Claim(id)
		if got := x.Bars(c); got != want {
			t.Errorf("%s has the digest %s, and runs have %s", claim, got, want)
		}
	}
	seen := map[string]string{}
	for _, bars := range []string{"at_least = 1\nat_most = 1", "at_least = 0.2\nat_most = 0.2", "at_least = 0.3\nat_most = 0.3", "at_least = 1",
		"at_most = 1", "equals = \"workers\"", "equals = \"workers\"\nplus = 1"} {
		x := parse(t, strings.Replace(whole, "equals = \"workers\"\nplus = 1", bars, 1))
		lock := x.Bars(x.Claims[5])
		if was := seen[lock]; was != "" {
			t.Errorf("%q has the digest of %q", bars, was)
		}
		seen[lock] = bars
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
	if got, want := x.Lock(x.Claims[0]), "b16b0d969c24993f 5f92d1343657500e"; got != want {
		t.Errorf("without profiles the lock is %s, and it was %s", got, want)
	}
}

// A run has the locks that it was made with: what is still the same is today's claim, and
// what is not stays apart from it.
func TestARunHasTheClaimsThatItWasMadeWith(t *testing.T) {
	was := parse(t, whole)
	now := parse(t, strings.Replace(whole, "margin = 0.1", "margin = 0.2", 1))
	then := now.Then(was.Locks())
	for _, c := range was.Claims {
		if got, want := now.Holds(then, c), c.ID != "is-flat"; got != want {
			t.Errorf("%s stands: %v", c.ID, got)
		}
	}
	if then.Older() || len(then.Claims) != len(was.Claims) {
		t.Errorf("%d claims, older: %v", len(then.Claims), then.Older())
	}
	if now.Then(parse(t, strings.Replace(whole, "rounds = 6", "rounds = 7", 1)).Locks()).Older() == false {
		t.Error("another design is taken for today's")
	}
}
