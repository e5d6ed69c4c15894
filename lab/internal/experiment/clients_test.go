package experiment

import (
	"strings"
	"testing"
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

func TestRefusesClientsThatNobodyHas(t *testing.T) {
	for _, c := range []struct{ old, new, says string }{
		{`kind = "fleet"`, `kind = "loopback"`, "factors[0]: loopback has one client; several take topology [fleet]"},
		{"[1, 2, 4]", "[0, 2, 4]", `setting "clients"`},
	} {
		if _, err := Parse("x", []byte(strings.Replace(ramp, c.old, c.new, 1))); err == nil ||
			!strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.new, err, c.says)
		}
	}
}
