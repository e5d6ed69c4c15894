package derive

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
	"github.com/line-rate/line-rate/lab/internal/audit"
	"github.com/line-rate/line-rate/lab/internal/journal"
)

// Names of what grow adds. They come first or in between wherever files are in
// the order of their names, and the experiment's name does not begin with its
// entry.
const (
	newHost       = "a-made-up-host"
	newExperiment = "10-made-up"
	newEntry      = "97"
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
experiment = "` + newExperiment + `"
host = "` + newHost + `"
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
experiments = ["` + newExperiment + `"]
card = {finding = true}

[[corrects]]
entry = "10"
believed = "What was believed before."
found = "What was found."
+++

## What was believed

Nothing.
`

// grow adds one valid file of each kind that a contributor adds: a host, an
// experiment, a run of another one, a text, and an entry that corrects another.
func grow(t *testing.T, root journal.Root) {
	t.Helper()
	archivetest.Write(t, root.Host(newHost), `{"schema_version": 2, "id": "`+newHost+`", "name": "Made up", "cores": 2}`)
	archivetest.Write(t, root.Path("lab", "experiments", newExperiment+".toml"), newDesign)
	archivetest.AddRun(t, root, newHost, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), 2)
	archivetest.Write(t, root.Text(newEntry), newText)
	archivetest.Write(t, root.Path("content", "journal", newEntry+"-made-up.md"), newPage)
}

// One new file of each kind is read, checked and derived from, and what was
// derived from older runs stays as it was.
func TestAJournalMayGrow(t *testing.T) {
	root := archivetest.Clone(t)
	updated(t, root)
	before := tree(t, root)
	grow(t, root)
	j := open(t, root)
	updated(t, root)
	for _, path := range []string{
		root.Verdict("11-threads", "20260102t030405z-"+newHost) + ".gz",
		root.Sheet("11-threads", "20260102t030405z-"+newHost) + ".gz",
		root.Hosts(newExperiment), root.Audit(newEntry),
	} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	if !strings.Contains(archivetest.Read(t, root.Ledger()), newExperiment) {
		t.Error("the ledger lacks the new experiment")
	}
	for _, a := range j.Audits {
		if a.Entry == newEntry && (len(a.Findings) != 2 || a.Findings[0].Verdict != audit.Disagrees ||
			a.Findings[1].Verdict != audit.Agrees || a.Claims[0].Verdict != "refuted") {
			t.Errorf("%+v", a)
		}
	}
	after := tree(t, root)
	for path, was := range before {
		older := !strings.HasPrefix(path, "derived/inputs/") && !strings.HasPrefix(path, "derived/data/claims/") &&
			!strings.HasPrefix(path, "derived/data/ledger") && !strings.HasPrefix(path, "derived/pages/ra") &&
			!strings.HasPrefix(path, "derived/pages/re") && !strings.HasPrefix(path, "derived/pages/score")
		if older && after[path] != was {
			t.Errorf("%s was written again", path)
		}
	}
}
