package experiment

import (
	"strings"
	"testing"
)

// profiling is whole with profiles and a claim of each kind about them.
var profiling = strings.Replace(whole, "[block]", "[profile]\nseconds = 2\ncompare = \"workers\"\n[block]", 1) + `
[[claims]]
id = "seen"
kind = "share"
text = "It is seen."
why = "Made up."
profile = "block"
package = "github.com/brianvoe/gofakeit"
at_least = 0.01
[[claims]]
id = "writes"
kind = "share"
text = "It writes."
why = "Made up."
profile = "cpu"
work = "write"
at_most = 0.5
[[claims]]
id = "gone"
kind = "share"
text = "It is gone."
why = "Made up."
profile = "mutex"
package = "github.com/brianvoe/gofakeit"
at_most = 0
at = { workers = 4 }
`

func TestReadsClaimsAboutProfiles(t *testing.T) {
	x := parse(t, profiling)
	if x.Profile == nil || x.Profile.Compare != "workers" || x.ProfileS() != 2 {
		t.Errorf("profile %+v", x.Profile)
	}
	if c := x.Claims[6]; c.Kind != Share || c.Profile != "block" || c.Package != "github.com/brianvoe/gofakeit" ||
		*c.AtLeast != 0.01 {
		t.Errorf("claim %+v", c)
	}
	if c := x.Claims[7]; c.Work != "write" || *c.AtMost != 0.5 {
		t.Errorf("claim %+v", c)
	}
	if c := x.Claims[8]; !c.Absent() || c.Where().Key() != "workers=4" {
		t.Errorf("claim %+v", c)
	}
}

func TestRefusesProfilesThatCouldNotBeTakenOrRead(t *testing.T) {
	for _, c := range []struct{ name, old, new, says string }{
		{"compare what is no factor", `compare = "workers"`, `compare = "route"`, `profile.compare "route": no factor`},
		{"an unknown key", `compare = "workers"`, `kinds = ["cpu"]`, `unknown key "profile.kinds"`},
		{"part of a second", "seconds = 2\n", "seconds = 2.5\n",
			"profile.seconds = 2.5: say for how long a profile is taken, 1 to 60 whole seconds"},
		{"no time", "seconds = 2\n", "", "profile.seconds = 0: say for how long"},
		{"less than no time", "seconds = 2\n", "seconds = -1\n", "profile.seconds = -1: say"},
		{"more than a minute", "seconds = 2\n", "seconds = 61\n", "profile.seconds = 61: say"},
		{"no number of seconds", "seconds = 2\n", "seconds = nan\n", "profile.seconds = NaN: say"},
		{"in several pieces, by what takes no turns", "generator = \"http_load\"", "generator = \"autocannon\"",
			"block.rounds = 6: autocannon measures in one piece"},
		{"an unknown kind", `profile = "block"`, `profile = "threads"`,
			`claims[6] "seen": profile "threads": no such kind of profile; there are`},
		{"no kind", "profile = \"block\"\n", "", `claims[6] "seen": kind "share" lacks profile; it takes profile, package or work`},
		{"neither package nor work", "work = \"write\"\n", "", `claims[7] "writes": kind "share" lacks package or work; it takes profile, package or work`},
		{"both", "work = \"write\"", "work = \"write\"\npackage = \"sync\"",
			`claims[7] "writes": package and work exclude each other`},
		{"an unknown kind of work", `work = "write"`, `work = "writing"`, `claims[7] "writes": work "writing"`},
		{"a package by its version", `package = "github.com/brianvoe/gofakeit"`,
			`package = "github.com/brianvoe/gofakeit/v7"`,
			`claims[6] "seen": package "github.com/brianvoe/gofakeit/v7": profiles count it as "github.com/brianvoe/gofakeit"`},
		{"a share with a metric", `work = "write"`, "work = \"write\"\nmetric = \"throughput_rps\"",
			`claims[7] "writes": kind "share" does not take`},
		{"a share without a bar", "at_least = 0.01\n", "", `claims[6] "seen": kind "share" lacks`},
		{"a share in per cent", "at_least = 0.01", "at_least = 2", `claims[6] "seen": a share's bar lies between 0 and 1`},
		{"a share that is always so", "at_most = 0.5\n[[claims]]\nid = \"gone\"", "at_most = 1\n[[claims]]\nid = \"gone\"",
			`claims[7] "writes": a share's bar lies between 0 and 1`},
		{"a ratio of a profile", "at_least = 1.5", "at_least = 1.5\nprofile = \"cpu\"",
			`claims[1] "more": kind "ratio" does not take`},
	} {
		if !strings.Contains(profiling, c.old) {
			t.Fatalf("%s: %q does not stand in the made-up experiment", c.name, c.old)
		}
		_, err := Parse("made-up", []byte(strings.Replace(profiling, c.old, c.new, 1)))
		if err == nil {
			t.Errorf("%s: accepted", c.name)
		} else if !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %q does not say %q", c.name, err, c.says)
		}
	}
	_, err := Parse("made-up", []byte(strings.Replace(profiling, "[profile]\nseconds = 2\ncompare = \"workers\"\n", "",
		1)))
	if err == nil || !strings.Contains(err.Error(), `claims[6] "seen": profile: the experiment takes none`) {
		t.Errorf("without a [profile] table: %v", err)
	}
}
