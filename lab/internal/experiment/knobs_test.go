package experiment

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

func fleet(settings, factor string) string {
	return `entry = "1"
title = "t"
question = "q"
metrics = ["throughput_rps"]
topology = { kind = "fleet" }
settings = { route = "/read", connections = 1, ` + settings + ` }
factors = [{ name = "workers", levels = [1, 2] }` + factor + `]
budget_s = 60
block = { slot_s = 1, rounds = 1 }
claims = [
  { id = "four", kind = "flat", text = "t", why = "w", metric = "throughput_rps", over = "workers", margin = 0.1, needs = { cores = FOUR } },
  { id = "none", kind = "flat", text = "t", why = "w", metric = "throughput_rps", over = "workers", margin = 0.1 },
]`
}

func TestTheCoresThatADesignTakes(t *testing.T) {
	const pinned = `, irq = "pinned"`
	for _, c := range []struct {
		settings, factor string
		takes            int
	}{
		{`prefork = true`, ``, 0},
		{`prefork = true` + pinned, ``, 0},
		{`server_cpus = "0-111"`, ``, 112},
		{`server_cpus = "0-111"` + pinned, ``, 113}, // pinned interrupts need at least one core of their own
		{`prefork = true` + pinned, `, { name = "server_cpus", levels = ["0-5", "0-7"] }`, 8},
		{`server_cpus = "2,5"`, `, { name = "irq", levels = ["default", "pinned"] }`, 7},
	} {
		text := fleet(c.settings, c.factor)
		x := parse(t, strings.Replace(text, "FOUR", "400", 1))
		if got := x.Needs(x.Claims[1]).Cores; got != c.takes || x.Least().Cores != c.takes {
			t.Errorf("%s%s: a claim that asks for none needs %d, the least is %d, want %d", c.settings, c.factor, got,
				x.Least().Cores, c.takes)
		}
		if got := x.Needs(x.Claims[0]).Cores; got != 400 {
			t.Errorf("%s%s: a claim that asks for 400 needs %d", c.settings, c.factor, got)
		}
		_, err := Parse("made-up", []byte(strings.Replace(text, "FOUR", "4", 1)))
		if says := fmt.Sprintf(`"four": needs.cores = 4, but the design takes %d`, c.takes); (c.takes > 4) != (err != nil) ||
			err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s%s, where a claim asks for 4: %v", c.settings, c.factor, err)
		}
	}
}

// If claims of a design that names cores needed different numbers of cores, one
// place would say that it can be run and another that it cannot.
func TestADesignThatNamesCoresNeedsAsManyForEachClaim(t *testing.T) {
	paths, err := filepath.Glob("../../experiments/*.toml")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		x, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range x.Claims {
			if x.cores() > 0 && x.Needs(c).Cores != x.Least().Cores {
				t.Errorf("%s: claim %s needs %d cores, and another %d", x.Name, c.ID, x.Needs(c).Cores, x.Least().Cores)
			}
		}
	}
}
