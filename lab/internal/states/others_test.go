package states

import (
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/results"
)

// others adds the states that take more than a run of the design that went
// otherwise, and gives what pages say of them.
func (c *clone) others() []state {
	measuredBy := func(name string) *results.File {
		r := c.run(measured, name)
		withRoom(r)
		return r
	}
	page := func(name, source, status string) {
		c.write("content/journal/"+name+".md", entry(name, "queue", "throughput_rps", "connections", source, status))
	}
	// after is a run that was made so much later.
	after := func(r *results.File, by time.Duration) *results.File {
		r.Provenance.StartedAt, r.Provenance.FinishedAt = r.Provenance.StartedAt.Add(by), r.Provenance.FinishedAt.Add(by)
		for i := range r.Trials {
			r.Trials[i].StartedAt = r.Trials[i].StartedAt.Add(by)
		}
		return r
	}

	// Nobody has run it, and nobody can.
	c.experiment("no-run", design("no-run"))
	page("no-run", "measured", "planned")
	c.experiment("planned", strings.Replace(design("planned"), "metrics =", "planned = \"the lab lacks the knob\"\nmetrics =", 1))
	page("planned", "measured", "planned")

	// Only what a text printed is known, some of it as a limit.
	c.experiment("published", design("published"))
	page("published", "published", "done")
	c.add(&results.File{
		SchemaVersion: results.Version, Experiment: "published", Run: "published-2026-06-01-bare", Source: results.Published,
		Hosts:      results.Hosts{Server: "bare", Client: "bare"},
		Text:       &results.Text{Entry: "published", Date: "2026-06-01"},
		Topology:   results.Topology{Kind: "fleet"},
		Settings:   measuredBy("published").Settings,
		Conditions: measuredBy("published").Conditions[:3],
		Trials: []results.Trial{
			{Seq: 1, Block: 1, Condition: "c1", Valid: true, Bound: "unknown", Metrics: map[string]float64{"throughput_rps": 1000}, Below: map[string]float64{"latency_p50_s": 0.001}, Printed: map[string]string{"throughput_rps": "1k", "latency_p50_s": "<1ms"}},
			{Seq: 2, Block: 1, Condition: "c2", Valid: true, Bound: "unknown", Metrics: map[string]float64{"throughput_rps": 2000}, Printed: map[string]string{"throughput_rps": "2k"}},
			{Seq: 3, Block: 1, Condition: "c3", Valid: true, Bound: "unknown", Metrics: map[string]float64{"throughput_rps": 1500, "latency_p50_s": 0.002}, Printed: map[string]string{"throughput_rps": "1.5k", "latency_p50_s": "2ms"}},
		},
	}, "")

	// Of two designs: the claims of the first are all withdrawn.
	first := design("all-withdrawn")
	now := strings.NewReplacer(`id = "threads"`, `id = "new-threads"`, `id = "queue"`, `id = "new-queue"`, `id = "cost"`, `id = "new-cost"`,
		`id = "falls"`, `id = "new-falls"`, `id = "count"`, `id = "new-count"`, `id = "wall"`, `id = "new-wall"`, "at_least = 2.0", "at_least = 3.0").Replace(first)
	for _, id := range []string{"threads", "queue", "cost", "falls", "count", "wall"} {
		now += "\n[[withdrawn]]\nid = \"" + id + "\"\nwhy = \"The bar was too low.\"\n"
	}
	c.experiment("all-withdrawn", now)
	c.write("content/journal/all-withdrawn.md", entry("all-withdrawn", "new-queue", "throughput_rps", "connections", "measured", "done"))
	c.add(measuredBy("all-withdrawn"), first)

	// One claim changed, another written after the run, and a third of which the
	// newer run, made with an older design, knows nothing.
	changed := strings.NewReplacer(`id = "queue"`, `id = "queue-thrice"`, "at_least = 2.0", "at_least = 3.0").Replace(design("changed")) + `
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
	c.write("content/journal/changed.md", entry("changed", "queue-thrice", "throughput_rps", "connections", "measured", "done"))
	c.add(measuredBy("changed"), design("changed"))
	older := design("changed")
	older = older[:strings.Index(older, "[[claims]]\nid = \"wall\"")]
	c.add(after(measuredBy("changed"), time.Hour), older)

	// It could not be run, and its design has changed since.
	c.experiment("changed-since", strings.Replace(design("changed-since"), "at_least = 2.0", "at_least = 3.0", 1))
	page("changed-since", "measured", "done")
	none := measuredBy("changed-since")
	none.Trials, none.Conditions, none.NotApplicable = []results.Trial{}, []results.Condition{}, "no right to make a namespace"
	c.add(none, design("changed-since"))

	// With profiles, without, and with those of one condition.
	lock := string(c.file("test/site/fixture/lab/experiments/93-lock.toml"))
	withProfiles := func(name string, change func(*results.File)) {
		text := strings.Replace(lock, `entry = "93"`, `entry = "`+word(name)+`"`, 1)
		r := c.run(profiled, name)
		change(r)
		c.experiment(name, text)
		c.add(r, text)
		more := `{{< shares exp="NAME" kind="cpu" name="work" title="Kinds of work" >}}

{{< share exp="NAME" kind="cpu" work="write" index="pool" >}}

{{< profiles exp="NAME" kind="block" compare="index" name="block" title="Blocked" >}}

{{< flame exp="NAME" kind="cpu" index="pool" name="flame" title="CPU" >}}
`
		c.write("content/journal/"+name+".md", append(entry(name, "", "throughput_rps", "", "measured", "done"), strings.ReplaceAll(more, "NAME", name)...))
	}
	withProfiles("profiles", func(*results.File) {})
	withProfiles("profiles-lost", func(r *results.File) {
		spoil(r, of("c1"))
		r.Conditions[0].Profiles = nil
	})
	withProfiles("profiles-none", func(r *results.File) {
		for i := range r.Conditions {
			r.Conditions[i].Profiles = nil
		}
		for i := range r.Trials {
			r.Trials[i].Profiles = nil
		}
	})

	return []state{
		{"no-run", nil, said{"entry": {"No host has run this experiment yet"}, "claim queue": {"No run yet", "lab run no-run"}}},
		{"planned", nil, said{"entry": {"Planned: the lab lacks the knob"}, "claim queue": {"No run yet. Planned: the lab lacks the knob."}}},
		{"published", nil, said{"run": {"1k", "<1ms", "not recorded"}, "claim falls": {"single run: "}, "hosts/bare": {"Nobody has run the lab on it"}}},
		{"all-withdrawn", nil, said{
			"run":             {"withdrawn", "reproduced"},
			"claim queue":     {"Withdrawn", "The bar was too low.", "is at least 2.", "reproduced"},
			"claim new-queue": {"No run yet", "is at least 3."},
			"entry":           {"Withdrawn, with what runs said of them"},
			"runs":            {"6 withdrawn"},
			"claims":          {"Withdrawn", "The bar was too low."},
		}},
		{"changed", nil, said{
			"run":                {"With more connections a request waits longer. withdrawn"},
			"claim queue":        {"Withdrawn", "Twice was too low a bar.", "21:06", "20:06"},
			"claim queue-thrice": {"No run yet: those of this experiment were made before"},
			"claim later":        {"No run yet: those of this experiment were made before"},
			"claim wall":         {"20:06", "reproduced"},
		}},
		{"changed-since", nil, said{"run": {"the experiment’s file as it was"}, "claim queue": {"not applicable", "is at least 3."}}},
		{"profiles", nil, said{"run": {"Profiles", "c1-cpu.pb.gz"}, "entry": {"All profiles of this run"}}},
		{"profiles-lost", nil, said{"run": {"Profiles", "c2-cpu.pb.gz", "only 0 of 6 blocks are complete"}, "entry": {"has a block profile yet"}}},
		{"profiles-none", nil, said{"run": {"the run has no block profile"}, "entry": {"has a CPU profile yet", "not measured yet"}}},
	}
}
