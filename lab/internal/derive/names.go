package derive

import (
	"github.com/line-rate/line-rate/lab/internal/audit"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
	"github.com/line-rate/line-rate/lab/server/route"
)

// A glossary is the names of one kind that a file may hold, for the page that
// lists them.
type glossary struct {
	ID    string        `json:"id"`
	Title string        `json:"title"`
	Where string        `json:"where"` // in which file they are written, and as what
	Form  string        `json:"form,omitempty"`
	Names []strict.Word `json:"names"`
}

// names lists every name that experiments and texts can be written with.
func names() []glossary {
	settings := setting.Docs()
	routes := strict.Map(route.All(), func(r route.Route) strict.Word {
		return strict.Word{Name: r.Path, Meaning: words.UpperFirst(r.About) + "."}
	})
	return []glossary{
		{"settings", "Settings", "In an experiment: a key of [settings], or the name of a factor.", "", settings},
		{"servers", "Servers", "In an experiment: a level of server, beside the names of its own tables [servers.NAME].", "",
			experiment.Servers()},
		{"server-keys", "Keys of a server", "In lab/servers.toml and in an experiment: a key of [servers.NAME].", "",
			strict.Meanings(experiment.ServerKeys())},
		{"routes", "Routes", "In an experiment: a level of route.", "", routes},
		{"topologies", "Topologies", "In an experiment: kind, of [topology].", "Also takes", experiment.Topologies()},
		{"claims", "Kinds of claim", "In an experiment: kind, of [[claims]]. Each claim also has an id, a text, and why " +
			"its margin or bar is what it is.", "Takes", experiment.Claims()},
		{"walls", "Walls", "In an experiment: bound, of a claim or of what it needs.", "", experiment.Walls()},
		{"profiles", "Kinds of profile", "In an experiment: profile, of a claim about a profile.", "",
			experiment.Profiles()},
		{"works", "Kinds of work", "In an experiment: work, of a claim about a share.", "", experiment.Works()},
		{"checks", "Kinds of check", "In a text: kind, of [[checks]].", "", strict.Meanings(audit.Kinds)},
		{"metrics", "Metrics", "In an experiment: metrics, and metric of a claim. In a text: a figure of a table.", "",
			metric.Words()},
	}
}
