package derive_test

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/madeup"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// others adds the states that need more than one run of the design with another
// outcome, and returns what pages say about them.
func (c *clone) others() []state {
	page := func(name, claim, source, status string) {
		c.write("content/journal/"+name+".md", entry(name, claim, "throughput_rps", "connections", source, status))
	}
	c.unrun(page)
	c.records(page)
	c.withdrawn(page)
	c.profiles()
	return []state{
		{name: "no-run", says: said{"entry": {"No host has run this experiment yet"},
			"claim queue": {"No run yet", "lab run no-run"}}},
		{name: "planned", says: said{"claim queue": {"This experiment is planned"}}},
		{name: "published", says: said{
			"claim queue": {"No run yet"},
			"hosts/bare":  {"Named by the texts of"},
			// As printed, in a table and as a line rate.
			"entry":        {" 2.125 ", "1k", "<1 ", "published single run"},
			"hosts/second": {"3.125 Gbit/s"},
		}},
		{name: "record", says: said{
			"run 1":       {"of 5 visits, and ", "5 blocks of 5 visits in 1 run"},
			"run 2":       {"12 blocks of 12 visits in 2 runs", "this one", "confirmed"},
			"claim queue": {"verdict changed, was inconclusive", "12 of 12", "Every run, newest first"},
		}},
		{name: "renamed", says: said{
			"run 2": {"Two cores,", "19 blocks of 19 visits in 2 runs",
				"the machine changed between the runs of this record: kernel 6.1 and 6.2; memory 8 GiB and 16 GiB",
				"Memory 17.2 GB", "Kernel 6.2", "most of it another process (0.40)"},
			"claim queue": {"Confirmed on 1 of 1 machine", "19 of 20",
				"1 of 20 blocks was refused by a gate and counts for neither side",
				"In other words before:", "A request waits twice.", "It waits longer, and once."},
			"hosts/renamed": {"made/up", "2 in 1 socket, 2 threads a core", "L2 1M x1", "as each run records it",
				"0123456789abcdef is a keyed hash"},
		}},
		{name: "rebuilt", says: said{
			"run 2":       {"16 blocks of 16 visits in 1 run"},
			"claim queue": {"Confirmed on 1 of 1 machine", "16 of 16", "of an earlier fiber_server"},
		}},
		{name: "hosts-differ", says: said{"claim cost": {"Confirmed on 1 of 2 machines, refuted on 1",
			"The 2 machines differ", "The ratio on each machine"}}},
		{name: "all-withdrawn", says: said{
			"run":         {"withdrawn"},
			"claim queue": {"Withdrawn claim", "The bar was too low.", "What runs said of it, newest first"},
			"entry": {"Withdrawn, with what runs said of them",
				"No run yet: those of this experiment were made before the claim was written"},
			"claim new-queue": {"No run yet: those of this experiment were made before the claim was written"},
		}},
		{name: "changed", says: said{
			"run":                {"withdrawn"},
			"claim later":        {"No run yet: those of this experiment were made before the claim was written"},
			"claim queue-thrice": {"No run yet: those of this experiment were made before the claim was written"},
			"claim wall":         {"confirmed"},
			"claim queue":        {"Withdrawn claim", "Twice was too low a bar.", "32 of 32 for"},
			"entry":              {"Withdrawn, with what runs said of it"},
		}},
		{name: "changed-since", says: said{"claim queue": {"not applicable", "No right to make a namespace"}}},
		{name: "profiles", says: said{"run": {"Profiles", "block"}, "entry": {"c2-cpu.pb.gz", "c1-block.pb.gz"}}},
		{name: "profiles-lost", says: said{"run": {"made up"},
			"entry": {"No host’s run of profiles-lost has a block profile yet"}}},
		{name: "profiles-none", says: said{"claim lock-in-block": {"not applicable"},
			"entry": {"No host’s run of profiles-none has a CPU profile yet", "not measured yet"}}},
	}
}

// unrun adds experiments without a measured run: not run yet, impossible to
// run, and known only from a text, with some figures as limits.
func (c *clone) unrun(page func(name, claim, source, status string)) {
	c.experiment("no-run", design("no-run"))
	page("no-run", "queue", "measured", "planned")
	c.experiment("planned", strings.Replace(design("planned"), "metrics =",
		"planned = \"the lab lacks the knob\"\nmetrics =", 1))
	page("planned", "queue", "measured", "planned")

	c.experiment("published", design("published"))
	page("published", "queue", "published", "done")
	c.write("data/texts/published.toml", []byte(`entry = "published"
date = "2026-06-01"

[[tables]]
id = "t"
place = "table"
experiment = "published"
host = "bare"
topology = "fleet"
rows = [
  { levels = { connections = 20 }, printed = { throughput_rps = "1k", latency_p50_s = "<1ms" } },
  { levels = { connections = 200 }, printed = { throughput_rps = "2k" } },
  { levels = { connections = 1000 }, printed = { throughput_rps = "1.5k", latency_p50_s = "2.125ms" } },
]
`))
}

// records adds experiments with several runs.
func (c *clone) records(page func(name, claim, source, status string)) {
	two := func(name, claim string, first, second func(*madeup.Plan)) {
		text := design(name)
		c.experiment(name, text)
		page(name, claim, "measured", "done")
		for i, change := range []func(*madeup.Plan){first, second} {
			p := c.plan(name, text)
			p.Started, p.Seed = p.Started.Add(time.Duration(i)*time.Hour), p.Seed+uint64(i)
			change(&p)
			c.add(madeup.Run(p), text)
		}
	}
	two("record", "queue", ends(results.Interrupted, 5, "interrupted"), func(p *madeup.Plan) { p.Blocks = 7 })
	c.experiment("rebuilt", design("rebuilt"))
	page("rebuilt", "queue", "measured", "done")
	for i := range 2 {
		p := c.plan("rebuilt", design("rebuilt"))
		p.Started, p.Seed = p.Started.Add(time.Duration(i)*time.Hour), p.Seed+uint64(i)
		r := madeup.Run(p)
		r.Provenance.Binaries["fiber_server"] = host.Binary{SHA256: strings.Repeat(strconv.Itoa(i+1), 64)}
		c.add(r, design("rebuilt"))
	}
	// A machine that is known got a new kernel and more memory between two runs, and
	// another process ran beside the last block.
	c.experiment("renamed", design("renamed")+
		"\n[[corrected]]\nid = \"queue\"\nwas = \"A request waits twice.\"\nwhy = \"It waits longer, and once.\"\n")
	page("renamed", "queue", "measured", "done")
	for i := range 2 {
		p := c.plan("renamed", design("renamed"))
		p.Hosts, p.Seed = results.Hosts{Server: "renamed", Client: "renamed"}, p.Seed+uint64(i)
		p.Started = p.Started.Add(time.Duration(i) * time.Hour)
		p.Blocks, p.Ended = 6+8*i, results.Blocks
		r := madeup.Run(p)
		r.Provenance.Kernel["osrelease"], r.Provenance.MemoryBytes = []string{"6.1", "6.2"}[i], int64(8<<i)<<30
		for k := range r.Trials {
			if t := &r.Trials[k]; t.Block == 7 && t.Condition == "c1" {
				t.Metrics["client_foreign_load"] = 0.42
				t.Valid, t.Reasons = false, []results.Reason{{Gate: "other-load",
					Detail: "client_foreign_load 0.42; most of it chromium (0.40)"}}
			}
		}
		c.add(r, design("renamed"))
	}
	// The cost of a request with most connections, as a multiple.
	dear := func(by float64) func(*madeup.Plan) {
		return trials(func(levels setting.Levels, _ int, _ bool) madeup.Came {
			n, _ := levels[setting.Connections].Int()
			return madeup.Came{CostS: map[int64]float64{20: 8e-6, 200: 8e-6, 1000: by * 8e-6}[n]}
		})
	}
	two("hosts-differ", "cost", dear(1), func(p *madeup.Plan) {
		dear(2)(p)
		p.Hosts = results.Hosts{Server: "second", Client: "second"}
	})
}

// withdrawn adds runs with claims that were withdrawn or changed.
func (c *clone) withdrawn(page func(name, claim, source, status string)) {
	// Of two designs: all claims of the first are withdrawn.
	first := design("all-withdrawn")
	now := strings.NewReplacer(`id = "threads"`, `id = "new-threads"`, `id = "queue"`, `id = "new-queue"`, `id = "cost"`,
		`id = "new-cost"`,
		`id = "falls"`, `id = "new-falls"`, `id = "count"`, `id = "new-count"`, `id = "wall"`, `id = "new-wall"`,
		"at_least = 2.0", "at_least = 3.0").Replace(first)
	for _, id := range []string{"threads", "queue", "cost", "falls", "count", "wall"} {
		now += "\n[[withdrawn]]\nid = \"" + id + "\"\nwhy = \"The bar was too low.\"\n"
	}
	c.experiment("all-withdrawn", now)
	page("all-withdrawn", "new-queue", "measured", "done")
	c.add(madeup.Run(c.plan("all-withdrawn", first)), first)

	// One claim was changed, another written after the run, and a third is missing
	// from the newer run, which has an older design.
	changed := strings.NewReplacer(`id = "queue"`, `id = "queue-thrice"`, "at_least = 2.0",
		"at_least = 3.0").Replace(design("changed")) + `
[[claims]]
id = "later"
kind = "count"
text = "Written when all had been measured."
why = "Made up."
metric = "workers_active"
equals = "workers"

[[withdrawn]]
id = "queue"
why = "Twice was too low a bar."
`
	c.experiment("changed", changed)
	page("changed", "queue-thrice", "measured", "done")
	c.add(madeup.Run(c.plan("changed", design("changed"))), design("changed"))
	older := design("changed")
	older = older[:strings.Index(older, "[[claims]]\nid = \"wall\"")]
	p := c.plan("changed", older)
	p.Started, p.Seed = p.Started.Add(time.Hour), p.Seed+1
	c.add(madeup.Run(p), older)

	// The run was not possible, and its design has changed since.
	c.experiment("changed-since", strings.Replace(design("changed-since"), "at_least = 2.0", "at_least = 3.0", 1))
	page("changed-since", "queue", "measured", "done")
	p = c.plan("changed-since", design("changed-since"))
	p.Blocks, p.Ended = 0, ""
	none := madeup.Run(p)
	none.Trials, none.Conditions, none.NotApplicable = []results.Trial{}, []results.Condition{},
		"no right to make a namespace"
	c.add(none, design("changed-since"))
}

// profiles adds runs with profiles, without, and with those of one condition.
func (c *clone) profiles() {
	lock := string(c.file("test/site/fixture/lab/experiments/93-lock.toml"))
	with := func(name string, change func(*results.File)) {
		text := strings.NewReplacer(`entry = "93"`, `entry = "`+word(name)+`"`, "metrics = [",
			`metrics = ["errors", `).Replace(lock)
		p := c.plan(name, text)
		p.Blocks, p.Ended, p.NoControl, p.Trial = 6, results.Blocks, true, nil
		r := madeup.Run(p)
		c.profile(r)
		change(r)
		c.experiment(name, text)
		c.add(r, text)
		more := `{{< shares exp="NAME" kind="cpu" name="work" title="Kinds of work" >}}

{{< share exp="NAME" kind="cpu" work="write" index="pool" >}}

{{< figure "block" >}}

{{< figure "flame" >}}

{{< figure "words" >}}
`
		text = string(entry(name, "", "throughput_rps", "", "measured", "done")) + more
		text = strings.Replace(text, "\n+++\n", `

[[figures]]
name = "words"
kind = "lines"
title = "Over words"
exp = "NAME"
metric = "throughput_rps"
over = "index"

[[figures]]
name = "block"
kind = "profiles"
title = "Blocked"
exp = "NAME"
profile = "block"

[[figures]]
name = "flame"
kind = "flame"
title = "CPU"
exp = "NAME"
profile = "cpu"
levels = {index = "pool"}
+++
`, 1)
		c.write("content/journal/"+name+".md", []byte(strings.ReplaceAll(text, "NAME", name)))
	}
	with("profiles", func(*results.File) {})
	with("profiles-lost", func(r *results.File) {
		spoil(r, of("c1"))
		r.Conditions[0].Profiles = nil
	})
	with("profiles-none", func(r *results.File) {
		for i := range r.Conditions {
			r.Conditions[i].Profiles = nil
		}
		for i := range r.Trials {
			r.Trials[i].Profiles = nil
		}
	})
}

// profile gives each trial the profiles of the same condition and block in the
// golden pages' run, whose raw files are shared.
func (c *clone) profile(r *results.File) {
	of := c.run(profiled, "93-lock", "small")
	for i := range r.Conditions {
		r.Conditions[i].Profiles = of.Conditions[i].Profiles
	}
	for i := range r.Trials {
		t := &r.Trials[i]
		for _, from := range of.Trials {
			if from.Block == t.Block && from.Condition == t.Condition {
				t.Profiles = slices.Clone(from.Profiles)
			}
		}
		r.Follow(t)
	}
}
