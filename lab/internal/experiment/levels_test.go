package experiment

import (
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/setting"
)

// comparing is the first claim of the made-up design, limited to some levels.
func comparing(levels string) string {
	return strings.Replace(whole, "margin = 0.1", "margin = 0.1\nlevels = "+levels, 1)
}

func TestAClaimNamesTheLevelsItCompares(t *testing.T) {
	c := parse(t, comparing("[4, 1]")).Claims[0]
	if got := c.Compared(); len(got) != 2 || got[0] != setting.Int(4) || got[1] != setting.Int(1) {
		t.Errorf("it compares %v", got)
	}
	for _, of := range []struct {
		workers int64
		covered bool
	}{{1, true}, {2, false}, {4, true}} {
		if got := c.Covers(setting.Levels{"workers": setting.Int(of.workers),
			"connections": setting.Int(100)}); got != of.covered {
			t.Errorf("workers = %d is covered: %v", of.workers, got)
		}
	}
}

func TestRefusesLevelsThatCannotBeCompared(t *testing.T) {
	for levels, says := range map[string]string{
		"[1]":      `claims[0] "is-flat": levels: name two or more, or leave them out`,
		"[]":       `claims[0] "is-flat": levels: name two or more, or leave them out`,
		"[1, 3]":   `claims[0] "is-flat": levels[1]: 3 is no level of workers`,
		"[1, 1]":   `claims[0] "is-flat": levels[1]: 1 stands twice`,
		"[1, [2]]": `claims[0] "is-flat": levels[1]: [2] is not a level`,
		`["1", 2]`: ``, // as texts elsewhere, "1" is another level than 1
	} {
		_, err := Parse("made-up", []byte(comparing(levels)))
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", levels, err, says)
		}
	}
	of := func(old, new string) string { return strings.Replace(whole, old, new, 1) }
	for text, says := range map[string]string{
		of("at_least = 1.5", "at_least = 1.5\nlevels = [1, 10, 50]"): "a ratio is of two, the second over the first; " +
			"there are 3",
		of(`bound = "wire"`, "bound = \"wire\"\nlevels = [1, 2]"): `kind "bound" does not take levels`,
	} {
		if _, err := Parse("made-up", []byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}

// The lock has the levels in their order, and a claim without them keeps the lock that
// it had before there were any; the test of locks of the journal's designs sees to that.
func TestTheLockIsOfTheLevels(t *testing.T) {
	locks := map[string]string{}
	for _, text := range []string{whole, comparing("[1, 4]"), comparing("[4, 1]"), comparing("[1, 2, 4]")} {
		x := parse(t, text)
		lock := x.Lock(x.Claims[0])
		if before, again := locks[lock]; again {
			t.Errorf("two claims have one lock:\n%s\n%s", before, text)
		}
		locks[lock] = text
	}
}
