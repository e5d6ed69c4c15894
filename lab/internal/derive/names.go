package derive

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/audit"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/server/route"
)

// A glossary is the names of one kind that a file may hold, for the page that
// lists them.
type glossary struct {
	ID    string  `json:"id"`
	Title string  `json:"title"`
	Where string  `json:"where"` // in which file they are written, and as what
	Form  string  `json:"form,omitempty"`
	Names []entry `json:"names"`
}

// An entry is one name: what it takes, if anything, and what it means.
type entry struct {
	Name    string `json:"name"`
	Form    string `json:"form,omitempty"`
	Meaning string `json:"meaning"`
}

// names lists every name that experiments and texts can be written with.
func names() []glossary {
	docs := func(of []experiment.Doc) (out []entry) {
		for _, d := range of {
			out = append(out, entry{d.Name, d.Form, d.Meaning})
		}
		return out
	}
	var settings, servers, routes, metrics, walls, kinds, works []entry
	for _, d := range setting.Docs() {
		settings = append(settings, entry{d.Name, d.Form, d.Meaning})
	}
	for _, s := range experiment.Shared() {
		servers = append(servers, entry{Name: s.Name, Meaning: s.Title + ": " + s.About + "."})
	}
	for _, r := range route.All() {
		routes = append(routes, entry{Name: r.Path, Meaning: strings.ToUpper(r.About[:1]) + r.About[1:] + "."})
	}
	for _, m := range metric.All() {
		metrics = append(metrics, entry{m.Name, unit(m.Unit), m.Doc})
	}
	for _, w := range gate.WallNames() {
		walls = append(walls, entry{Name: w, Meaning: gate.Bound(w).Meaning()})
	}
	for _, k := range profiles.Kinds() {
		kinds = append(kinds, entry{Name: string(k), Meaning: k.Meaning()})
	}
	for _, w := range profiles.Works() {
		works = append(works, entry{Name: string(w.Work), Meaning: w.Doc})
	}
	return []glossary{
		{"settings", "Settings", "In an experiment: a key of [settings], or the name of a factor.", "", settings},
		{"servers", "Servers", "In an experiment: a level of server, beside the names of its own tables [servers.NAME].", "",
			servers},
		{"server-keys", "Keys of a server", "In lab/servers.toml and in an experiment: a key of [servers.NAME].", "",
			meant(experiment.ServerKeys())},
		{"routes", "Routes", "In an experiment: a level of route.", "", routes},
		{"topologies", "Topologies", "In an experiment: kind, of [topology].", "Also takes", docs(experiment.Topologies())},
		{"claims", "Kinds of claim", "In an experiment: kind, of [[claims]]. Each claim also has an id, a text, and why " +
			"its margin or bar is what it is.", "Takes", docs(experiment.Claims())},
		{"walls", "Walls", "In an experiment: bound, of a claim or of what it needs.", "", walls},
		{"profiles", "Kinds of profile", "In an experiment: profile, of a claim about a profile.", "", kinds},
		{"works", "Kinds of work", "In an experiment: work, of a claim about a share.", "", works},
		{"checks", "Kinds of check", "In a text: kind, of [[checks]].", "", meant(audit.Kinds)},
		{"needs", "Needs of a text's claim", "In a text: needs, of [[claims]].", "", meant(audit.Needs)},
		{"metrics", "Metrics", "In an experiment: metrics, and metric of a claim. In a text: metric of a claim.", "",
			metrics},
	}
}

func meant[K ~string](of map[K]string) (out []entry) {
	for _, k := range slices.Sorted(maps.Keys(of)) {
		out = append(out, entry{Name: string(k), Meaning: of[k]})
	}
	return out
}

func unit(u metric.Unit) string {
	switch u {
	case metric.Ratio:
		return "0 to 1"
	case metric.Count:
		return "a count"
	case metric.PerSecond:
		return "a second"
	}
	return fmt.Sprintf("in %s", u)
}
