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
		{"its owner", "It is flat.\"", "It is flat.\"\nowner = \"series\"", false, false},
		{"the budget", "budget_s = 60", "budget_s = 600", false, false},
		{"the core set", "budget_s = 60", "budget_s = 60\ncore = true", false, false},
		{"the slot", "slot_s = 0.1", "slot_s = 0.2", true, false},
		{"the rounds", "rounds = 6", "rounds = 7", true, false},
		{"the warm-up", "warmup_s = 0.2", "warmup_s = 0.3", true, false},
		{"a setting", "connections = 100", "connections = 101", true, false},
		{"a level", "levels = [1, 2, 4]", "levels = [1, 2, 8]", true, false},
		{"the topology", "queue_s = 0.02", "queue_s = 0.03", true, false},
		{"the margin", "margin = 0.1", "margin = 0.2", true, true},
		{"the metric", "metric = \"throughput_rps\"", "metric = \"latency_p50_s\"", true, true},
		{"where it holds", "margin = 0.1", "margin = 0.1\nat = { pipelining = 10 }", true, true},
		{"what it compares", "margin = 0.1", "margin = 0.1\nlevels = [1, 4]", true, true},
		{"what it needs", "margin = 0.1", "margin = 0.1\nneeds = { cores = 4 }", true, true},
		{"whom it is about", "margin = 0.1", "margin = 0.1\nabout = \"client\"", true, true},
		{"profiles", "[block]", "[profile]\nseconds = 2\n[block]", true, false},
		{"another claim", "at_least = 1.5", "at_least = 1.6", false, false},
		{"a claim less", claim("less", "ratio", "It is less.", `metric = "server_cpu_per_request_s"`, `over = "pipelining"`,
			"at_most = 0.5"), "", false, false},
		{"a server that is not loaded", "[block]", "[servers.unused]\ncommand = \"x\"\n[block]", false, false},
	} {
		// A changed metric or margin is the first one, which is a line of the claim and not of the head.
		head, claims, _ := strings.Cut(whole, "[[claims]]")
		text := head + "[[claims]]" + claims
		if strings.Contains(claims, change.old) {
			text = head + "[[claims]]" + with(t, claims, change.old, change.new)
		} else {
			text = with(t, text, change.old, change.new)
		}
		y := parse(t, text)
		if got := x.Lock(c) != y.Lock(y.Claims[0]); got != change.lock || y.Holds(x, c) == change.lock {
			t.Errorf("%s: the lock changed: %v, want %v", change.name, got, change.lock)
		}
		if got := x.Bars(c) != y.Bars(y.Claims[0]); got != change.bars {
			t.Errorf("%s: the bars changed: %v, want %v", change.name, got, change.bars)
		}
	}
}

// The digests that recorded runs have: of designs of each shape, and of claims of each kind.
func TestClaimsKeepTheLocksOfRecordedRuns(t *testing.T) {
	for claim, want := range map[string]string{
		"01-servers/cost-rises":                  "14df73292831712f fc054a3cd3f87acb",
		"02-prefork-spreads/all-serve":           "03cab4dbc98e923a cb69e4a49af6f96d",
		"09-mutex/lock-is-the-wait":              "ff736aaaa53343ff e635360be3db677a",
		"10-workers/one-master":                  "b48a69ac2b1f200d ca589fb1e141315c",
		"10-workers/workers-equal-gomaxprocs":    "b48a69ac2b1f200d 15ec6a9f1a86667d",
		"11-pipelining-read/wire-stays-the-wall": "adc44e24853353f5 600876bb9b41935d",
		"12-write-buffer/bytes-alone":            "3e94581c57bf92d8 e0ee44518e710c4e",
		"13-fan-out/all-accounted":               "5d053634f6722a3f bd3a747011fdd3ed",
		"13-fan-out/reading-costs":               "5d053634f6722a3f 46b8f3bae364f481",
		"14-shards/used-shards-cost-the-same":    "d3ea3240d2511d2c cd9a6b5e37736845",
		"14-shards-used/eight-of-eight":          "a3e87b9d86dd529d 12b2d4815e2cea86",
		"aa-control/same-cost":                   "27bbc1ce99b03573 5c2f378dc89f3e6f",
		"batch-offered/all-deliver":              "97b504a49ebaa89f 12e02710a865a314",
	} {
		name, id, _ := strings.Cut(claim, "/")
		x, err := Load(filepath.Join(committed, name+".toml"))
		if err != nil {
			t.Fatal(err)
		}
		c, _ := x.Claim(id)
		if got := x.Lock(c); got != want {
			t.Errorf("%s has the lock %s, and runs have %s", claim, got, want)
		}
	}
	seen := map[string]string{}
	for _, bars := range []string{"at_least = 1\nat_most = 1", "at_least = 0.2\nat_most = 0.2",
		"at_least = 0.3\nat_most = 0.3", "at_least = 1", "at_most = 1", "equals = \"workers\"",
		"equals = \"workers\"\nplus = 1"} {
		x := parse(t, with(t, whole, "equals = \"workers\"\nplus = 1", bars))
		lock := x.Bars(x.Claims[5])
		if was := seen[lock]; was != "" {
			t.Errorf("%q has the digest of %q", bars, was)
		}
		seen[lock] = bars
	}
}

// A run keeps its own locks: an unchanged claim is today's, and a changed one stays apart. A claim
// that went takes nothing from the others.
func TestARunHasTheClaimsThatItWasMadeWith(t *testing.T) {
	was := parse(t, whole)
	now := parse(t, with(t, whole, "margin = 0.1", "margin = 0.2", "id = \"more\"", "id = \"more-than-that\""))
	then := now.Then(was.Locks())
	for _, c := range was.Claims {
		if got, want := now.Holds(then, c), c.ID != "is-flat" && c.ID != "more"; got != want {
			t.Errorf("%s still holds: %v", c.ID, got)
		}
	}
	if then.Older() || len(then.Claims) != len(was.Claims) || then.Cores(Claim{ID: "wall"}) != 4 {
		t.Errorf("%d claims, older: %v", len(then.Claims), then.Older())
	}
	if !now.Then(parse(t, with(t, whole, "rounds = 6", "rounds = 7")).Locks()).Older() {
		t.Error("another design is taken for today's")
	}
}
