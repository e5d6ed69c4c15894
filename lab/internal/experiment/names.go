package experiment

import (
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// A Doc describes a name to whoever writes a design: what it takes, and what it
// means.
type Doc struct{ Name, Form, Meaning string }

// Claims describes the kinds of claim.
func Claims() (docs []Doc) {
	for _, f := range forms {
		docs = append(docs, Doc{string(f.kind), f.words(), f.meaning})
	}
	return docs
}

func kindNames() []string { return named(Claims()) }

// Topologies describes how client and server can be joined.
func Topologies() []Doc {
	return []Doc{
		{"loopback", "", "Client and server are on one machine and talk over its loopback interface: there is no wire."},
		{"netns", "line_rate_bps, burst_bytes, queue_s",
			"Client and server are in two network namespaces of one machine, with a wire of the given rate between them. It " +
				"takes root."},
		{"fleet", "", "The server has a machine of its own, and so has each of any number of clients; the lab reaches " +
			"them over SSH."},
	}
}

func topologyNames() []string { return named(Topologies()) }

func named(docs []Doc) (names []string) {
	for _, d := range docs {
		names = append(names, d.Name)
	}
	return names
}

func factorNames(factors []Factor) (names []string) {
	for _, f := range factors {
		names = append(names, f.Name)
	}
	return names
}

func levelNames(levels []setting.Level) (names []string) {
	for _, l := range levels {
		names = append(names, l.String())
	}
	return names
}
