package experiment

import (
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/setting"
)

// ramp is a design whose clients vary.
const ramp = `entry = "7"
title = "A made-up ramp of clients"
question = "Who is the wall?"
metrics = ["throughput_rps"]
budget_s = 60
[topology]
kind = "fleet"
[settings]
route = "/simple"
prefork = true
generator = "http_load"
connections = 4
[[factors]]
name = "clients"
levels = [1, 2, 4]
[block]
slot_s = 0.4
rounds = 2
warmup_s = 0.2
[[claims]]
id = "adds"
kind = "ratio"
text = "Two do more than one."
about = "client"
why = "Made up."
metric = "throughput_rps"
over = "clients"
levels = [1, 2]
at_least = 1.1
`

func TestAFleetMeasuresTheNumbersOfClientsThatItHas(t *testing.T) {
	x, err := Parse("ramp", []byte(ramp))
	if err != nil {
		t.Fatal(err)
	}
	if n := x.leastClients(); n != 2 {
		t.Errorf("%d clients are said to be enough, but one level compares nothing", n)
	}
	for clients, left := range map[int]string{1: "clients=1", 2: "clients=1 clients=2", 3: "clients=1 clients=2",
		4: "clients=1 clients=2 clients=4", 9: "clients=1 clients=2 clients=4"} {
		var keys []string
		less := x.Without(x.Beyond(clients)...)
		for _, c := range less.Conditions() {
			keys = append(keys, c.Key())
		}
		if got := strings.Join(keys, " "); got != left {
			t.Errorf("%d clients: %s, want %s", clients, got, left)
		}
		if c := less.Claims[0]; less.Lock(c) != x.Lock(c) {
			t.Errorf("%d clients: the claim has another lock", clients)
		}
	}
	// A claim about two clients does not apply where only one is there.
	if !x.About(x.Claims[0], setting.Levels{setting.Clients: setting.Int(2)}) ||
		x.About(x.Claims[0], setting.Levels{setting.Clients: setting.Int(4)}) {
		t.Error("the claim compares one client with two")
	}
}

func TestADesignSaysHowManyClientsItTakes(t *testing.T) {
	fixed := strings.Replace(ramp, "name = \"clients\"\nlevels = [1, 2, 4]",
		"name = \"route\"\nlevels = [\"/read\", \"/simple\"]", 1)
	fixed = strings.Replace(fixed, "route = \"/simple\"", "clients = 3", 1)
	fixed = strings.NewReplacer("over = \"clients\"", "over = \"route\"", "levels = [1, 2]\n", "").Replace(fixed)
	for text, least := range map[string]int{ramp: 2, fixed: 3, strings.Replace(fixed, "clients = 3\n", "", 1): 1} {
		x, err := Parse("x", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if n := x.leastClients(); n != least {
			t.Errorf("%d clients, want %d:\n%s", n, least, text)
		}
	}
}

func TestRefusesClientsThatNobodyHas(t *testing.T) {
	for _, c := range []struct{ old, new, says string }{
		{`kind = "fleet"`, `kind = "loopback"`, "factors[0]: loopback has one client; several take topology [fleet]"},
		{"connections = 4", "connections = 3", "clients=4: 3 connections are too few for 4 clients"},
		{"[1, 2, 4]", "[0, 2, 4]", `setting "clients"`},
	} {
		if _, err := Parse("x", []byte(strings.Replace(ramp, c.old, c.new, 1))); err == nil ||
			!strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.new, err, c.says)
		}
	}
}
