package archivetest

import (
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/journal"
)

// Names of what Grow adds. They come first or in between wherever files are in
// the order of their names, and the experiment's name does not begin with its
// entry.
const (
	NewHost       = "a-made-up-host"
	NewExperiment = "10-made-up"
	NewEntry      = "97"
)

const newDesign = `entry = "97"
title = "Made up"
question = "Does a new experiment change what tests say of the others?"
metrics = ["throughput_rps", "latency_p99_s"]
budget_s = 60
[topology]
kind = "loopback"
[settings]
route = "/read"
generator = "http_load"
[[factors]]
name = "connections"
levels = [20, 200]
[block]
slot_s = 0.1
rounds = 4
warmup_s = 0.1
[[claims]]
id = "rises"
kind = "monotonic"
text = "Throughput rises with connections."
why = "Any bar will do."
metric = "throughput_rps"
over = "connections"
margin = 0.05
`

const newText = `entry = "97"
date = "2026-01-01"

[[tables]]
id = "t"
place = "table"
experiment = "` + NewExperiment + `"
host = "` + NewHost + `"
topology = "loopback"
settings = { route = "/read" }
rows = [
  { levels = { connections = 20 }, printed = { throughput_rps = "1,125" } },
  { levels = { connections = 200 }, printed = { throughput_rps = "2,250" } },
]

[[figures]]
id = "twice"
place = "headline"
printed = "3×"

[[checks]]
id = "times"
kind = "delta"
of = "twice"
equals = "t.c2.throughput_rps / t.c1.throughput_rps"

[[checks]]
id = "half"
kind = "product"
of = "t.c1.throughput_rps"
equals = "t.c2.throughput_rps / 2"

[[claims]]
id = "faster"
place = "headline"
says = "More connections are faster."
metric = "throughput_rps"
needs = ["repeats", "client-cpu"]
checks = ["times"]
runs = 1
`

const newPage = `+++
number = "97"
title = "Made up"
date = 2026-08-01
status = "planned"
chapter = "1"
tags = ["design"]
finding = "Nothing was run."
believed = "What was believed."
experiments = ["` + NewExperiment + `"]
card = {finding = true}

[[corrects]]
entry = "10"
believed = "What was believed before."
found = "What was found."
+++

## What was believed

Nothing.
`

// Grow adds one valid file of each kind that a contributor adds: a host, an
// experiment, a run of another one, a text, and an entry that corrects another.
func Grow(t *testing.T, root journal.Root) {
	t.Helper()
	Write(t, root.Host(NewHost), `{"schema_version": 2, "id": "`+NewHost+`", "name": "Made up", "cores": 2}`)
	Write(t, root.Path("lab", "experiments", NewExperiment+".toml"), newDesign)
	AddRun(t, root, NewHost, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), 2)
	Write(t, root.Text(NewEntry), newText)
	Write(t, root.Path("content", "journal", NewEntry+"-made-up.md"), newPage)
}
