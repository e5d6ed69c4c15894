package experiment

import (
	"strings"

	"github.com/line-rate/line-rate/lab/internal/setting"
)

// A Doc describes a name to whoever writes a design: what it takes, and what it
// means.
type Doc struct{ Name, Form, Meaning string }

// Claims describes the kinds of claim.
func Claims() (docs []Doc) {
	for _, d := range []struct {
		kind    Kind
		meaning string
	}{
		{Flat, "The metric is the same at all levels of a factor, within a margin: each ratio lies between 1/(1+margin) " +
			"and 1+margin."},
		{Ratio, "The metric at the factor's last level, over that at its first, is at least or at most a bar. With " +
			"levels, it is the second of the two over the first."},
		{Monotonic, "The metric never falls by more than the margin from one level to the next, and the last level is " +
			"above the first."},
		{Bound, "Every trial was limited by the named wall and by no other."},
		{Moves, "The wall is one at the factor's first level and another at its last, each met alone, and the use of both " +
			"changes by the margin or more."},
		{Count, "A count equals a setting's level, or that level and a number more."},
		{Share, "A package, or a kind of work, has at least or at most a share of a profile."},
		{Absent, "No sample of a profile has the package anywhere on its stack."},
	} {
		docs = append(docs, Doc{string(d.kind), strings.Join(takes[d.kind].words(), ", "), d.meaning})
	}
	return docs
}

// words lists a kind's own keys.
func (f fields) words() (words []string) {
	for _, of := range []struct {
		taken bool
		word  string
	}{
		{f.metric, "metric"}, {f.over, "over"}, {f.over && f.metric, "perhaps levels"}, {f.margin, "margin"},
		{f.bound, "bound"}, {f.walls, "from"}, {f.walls, "to"}, {f.equals, "equals"}, {f.equals, "perhaps plus"},
		{f.profile, "profile"}, {f.profile && f.bar, "package or work"}, {f.profile && !f.bar, "package"},
		{f.bar, "at_least or at_most"},
	} {
		if of.taken {
			words = append(words, of.word)
		}
	}
	return words
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
