// Package stamp says what a program of the lab was built from: the digest of
// its sources, and their commit.
//
// It is written as tags of the Go build, although no source uses them: tags are
// kept in every binary, while -ldflags are not recorded with -trimpath, and go
// version -m prints them. A person who builds a program can write any stamp.
package stamp

import (
	"runtime/debug"
	"strings"
)

// A Stamp says what a program was built from; the zero Stamp means unknown.
type Stamp struct {
	Sources  string // SHA-256 of the sources
	Commit   string // empty if unknown
	Modified bool   // whether the sources differed from the commit
}

// The tags. The first two are followed by their value.
const (
	sources  = "sources."
	commit   = "commit."
	modified = "modified"
)

// String gives the tags to build with.
func (s Stamp) String() string {
	tags := []string{sources + s.Sources}
	if s.Commit != "" {
		tags = append(tags, commit+s.Commit)
	}
	if s.Modified {
		tags = append(tags, modified)
	}
	return strings.Join(tags, ",")
}

// Parse finds a stamp among tags.
func Parse(tags string) (s Stamp) {
	for _, tag := range strings.Split(tags, ",") {
		if v, ok := strings.CutPrefix(tag, sources); ok {
			s.Sources = v
		}
		if v, ok := strings.CutPrefix(tag, commit); ok {
			s.Commit = v
		}
		s.Modified = s.Modified || tag == modified
	}
	return s
}

// Of finds the stamp of a build, the running program's or another's.
func Of(info *debug.BuildInfo) Stamp {
	for _, s := range info.Settings {
		if s.Key == "-tags" {
			return Parse(s.Value)
		}
	}
	return Stamp{}
}
