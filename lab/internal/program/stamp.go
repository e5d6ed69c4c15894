package program

import (
	"maps"
	"runtime/debug"
	"slices"
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
	// Parts has digests of the part of the sources that each program that is measured
	// is made of, by its main package's name, and of profiles for the compiler.
	Parts   map[string]string
	Release string // the tag that it was built for; empty beside releases
}

// The tags. The first three are followed by their value, the next by a name and a digest.
const (
	sourcesTag  = "sources."
	commitTag   = "commit."
	releaseTag  = "release."
	partTag     = "part."
	modifiedTag = "modified"
)

// String gives the tags to build with.
func (s Stamp) String() string {
	tags := []string{sourcesTag + s.Sources}
	if s.Commit != "" {
		tags = append(tags, commitTag+s.Commit)
	}
	if s.Release != "" {
		tags = append(tags, releaseTag+s.Release)
	}
	if s.Modified {
		tags = append(tags, modifiedTag)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Parts)) {
		tags = append(tags, partTag+name+"."+s.Parts[name])
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
		if v, ok := strings.CutPrefix(tag, releaseTag); ok {
			s.Release = v
		}
		if v, ok := strings.CutPrefix(tag, partTag); ok {
			if s.Parts == nil {
				s.Parts = map[string]string{}
			}
			last := strings.LastIndexByte(v, '.')
			s.Parts[v[:max(last, 0)]] = v[last+1:]
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
