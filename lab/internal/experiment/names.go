package experiment

import (
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// Claims describes the kinds of claim.
func Claims() []strict.Word {
	return strict.Called(forms, func(f form) strict.Word {
		return strict.Word{Name: string(f.kind), Form: f.words(), Meaning: f.meaning}
	})
}

// Walls describes what may bound a trial.
func Walls() []strict.Word {
	return strict.Called(gate.WallNames(), func(name string) strict.Word {
		return strict.Word{Name: name, Meaning: gate.Bound(name).Meaning()}
	})
}

// Profiles describes the kinds of profile.
func Profiles() []strict.Word {
	return strict.Called(profiles.Kinds(), func(k profiles.Kind) strict.Word {
		return strict.Word{Name: string(k), Meaning: k.Meaning()}
	})
}

// Works describes the kinds of work in a profile.
func Works() []strict.Word {
	return strict.Called(profiles.Works(), func(w profiles.WorkDoc) strict.Word {
		return strict.Word{Name: string(w.Work), Meaning: w.Doc}
	})
}

// Servers describes the shared servers.
func Servers() []strict.Word {
	return strict.Called(Shared(), func(s *Server) strict.Word {
		return strict.Word{Name: s.Name, Meaning: s.Title + ": " + s.About + "."}
	})
}

// Topologies describes how client and server can be joined.
func Topologies() []strict.Word {
	return []strict.Word{
		{Name: "loopback", Meaning: "Client and server are on one machine and talk over its loopback interface: there is " +
			"no wire."},
		{Name: "netns", Form: "line_rate_bps, burst_bytes, queue_s", Meaning: "Client and server are in two network " +
			"namespaces of one machine, with a wire of the given rate between them. It takes root."},
		{Name: "fleet", Meaning: "The server has a machine of its own, and so has each of any number of clients; the lab " +
			"reaches them over SSH."},
	}
}
