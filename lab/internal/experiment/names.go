package experiment

import (
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// Claims describes the kinds of claim.
func Claims() []strict.Word {
	return strict.Map(kinds.Forms, func(f form) strict.Word {
		return strict.Word{Name: string(f.Kind), Form: f.words(), Meaning: f.Meaning}
	})
}

// Walls describes what may bound a trial.
func Walls() []strict.Word {
	return strict.Map(gate.WallNames(), func(name string) strict.Word {
		return strict.Word{Name: name, Meaning: gate.Bound(name).Meaning()}
	})
}

// Profiles describes the kinds of profile.
func Profiles() []strict.Word {
	return strict.Map(profile.KindDocs(), func(d profile.KindDoc) strict.Word {
		return strict.Word{Name: string(d.Kind), Meaning: d.Meaning}
	})
}

// Works describes the kinds of work in a profile.
func Works() []strict.Word {
	return strict.Map(profile.Works(), func(w profile.WorkDoc) strict.Word {
		return strict.Word{Name: string(w.Work), Meaning: w.Doc}
	})
}

// Servers describes the shared servers.
func Servers() []strict.Word {
	return strict.Map(Shared(), func(s *Server) strict.Word {
		return strict.Word{Name: s.Name, Meaning: s.Title + ": " + s.About + "."}
	})
}

// Topologies describes how client and server can be joined.
func Topologies() []strict.Word { return kinds.Topologies }
