package program

import (
	"runtime/debug"
	"strings"
)

// A Stamp says what a program was built from: the digest of its sources, and
// their commit. The zero Stamp means unknown.
//
// It is written as tags of the Go build, although no source uses them: tags are
// kept in every binary, while -ldflags are not recorded with -trimpath, and go
// version -m prints them.
type Stamp struct {
	Sources  string // SHA-256 of the sources
	Commit   string // empty if unknown
	Modified bool   // whether the sources differed from the commit
}

// The tags. The first two are followed by their value.
const (
	sourcesTag  = "sources."
	commitTag   = "commit."
	modifiedTag = "modified"
)

// String gives the tags to build with.
func (s Stamp) String() string {
	tags := []string{sourcesTag + s.Sources}
	if s.Commit != "" {
		tags = append(tags, commitTag+s.Commit)
	}
	if s.Modified {
		tags = append(tags, modifiedTag)
	}
	return strings.Join(tags, ",")
}

// ParseStamp finds a stamp among tags.
func ParseStamp(tags string) (s Stamp) {
	for _, tag := range strings.Split(tags, ",") {
		if v, ok := strings.CutPrefix(tag, sourcesTag); ok {
			s.Sources = v
		}
		if v, ok := strings.CutPrefix(tag, commitTag); ok {
			s.Commit = v
		}
		s.Modified = s.Modified || tag == modifiedTag
	}
	return s
}

// StampOf finds the stamp of a build, the running program's or another's.
func StampOf(info *debug.BuildInfo) Stamp {
	for _, s := range info.Settings {
		if s.Key == "-tags" {
			return ParseStamp(s.Value)
		}
	}
	return Stamp{}
}
