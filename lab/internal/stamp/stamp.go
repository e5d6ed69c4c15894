// Package stamp is what a program of the lab says of its own making: the digest
// of the sources it was built from, and their commit.
//
// It is written as tags of the Go build, which bind no source here: they stand
// in every binary that Go makes, where -ldflags are left out with -trimpath, and
// go version -m prints them. The limit: whoever builds can write what they like.
package stamp

import (
	"runtime/debug"
	"strings"
)

// A Stamp says of what a program was built; the zero Stamp is that of one that
// does not say.
type Stamp struct {
	Sources  string // SHA-256 of the sources
	Commit   string // empty where it is not known
	Modified bool   // whether the sources differed from that commit
}

// The tags. The first two are followed by what they say.
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

// Of finds the stamp of a build, the running program's own or another's.
func Of(info *debug.BuildInfo) Stamp {
	for _, s := range info.Settings {
		if s.Key == "-tags" {
			return Parse(s.Value)
		}
	}
	return Stamp{}
}
