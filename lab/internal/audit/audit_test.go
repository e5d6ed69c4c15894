package audit

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/results"
)

// near compares with a tolerance for the inexactness of decimal fractions.
func near(a, b float64) bool {
	return math.Abs(a-b) <= 1e-9*math.Max(1, math.Max(math.Abs(a), math.Abs(b)))
}

func same(q Quantity, v, low, high float64) bool {
	return near(q.Value, v) && near(q.Low, low) && near(q.High, high)
}

func TestRelations(t *testing.T) {
	for _, c := range []struct {
		of     Quantity
		rel    Relation
		to     Quantity
		within float64
		want   bool
	}{
		{Around(2, 0.5), Equals, Exactly(2.5), 0, true}, // touching ranges agree
		{Around(2, 0.5), Equals, Exactly(2.6), 0, false},
		{Around(2, 0.5), Equals, Around(3, 0.6), 0, true},
		{Exactly(100), Equals, Exactly(101), 0.02, true},
		{Exactly(100), Equals, Exactly(103), 0.02, false},
		{Exactly(-100), Equals, Exactly(-101), 0.02, true},
		{Exactly(5), AtMost, Around(4, 1), 0, true}, // some values satisfy it
		{Exactly(5.1), AtMost, Around(4, 1), 0, false},
		{Exactly(5), AtLeast, Around(6, 1), 0, true},
		{Exactly(4.9), AtLeast, Around(6, 1), 0, false},
	} {
		if got := c.rel.holds(c.of, c.to, c.within); got != c.want {
			t.Errorf("%+v %s %+v within %v: %v", c.of, c.rel, c.to, c.within, got)
		}
	}
}

// A text with one figure and one check, to which each case adds.
const small = `entry = "99"
[[figures]]
id = "rate"
place = "a sentence"
printed = "1.5k"
unit = "1/s"
[[figures]]
id = "idle"
place = "a table"
printed = "0.00%"
[[checks]]
id = "half"
kind = "product"
of = "rate"
equals = "3000 / 2"
`

func TestKindsAreDescribed(t *testing.T) {
	for k, doc := range Kinds {
		if !strings.HasSuffix(doc, ".") {
			t.Errorf("%s: %q", k, doc)
		}
	}
}

var update = flag.Bool("update", false, "write the golden list of findings")

// All findings about the journal's texts, and the verdicts on all their claims.
// A new line here is a new finding.
func TestFindingsOfTheJournal(t *testing.T) {
	texts, faults, err := LoadDir("../../../data/texts")
	if err != nil || len(faults) > 0 {
		t.Fatal(err, faults)
	}
	var runs []*results.File
	for _, p := range glob(t, "../../../data/results/*/published-*.json") {
		r, err := results.Read(p)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, r)
	}
	files, err := Of(texts, runs)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range files {
		agree := 0
		for _, x := range f.Findings {
			if x.Verdict == Agrees {
				agree++
				continue
			}
			printed := x.Printed
			if printed == "" {
				printed = fmt.Sprintf("%.5g", x.Stands.Value)
			}
			fmt.Fprintf(&b, "%s %s: %s, %s %.5g\n", f.Entry, x.Place, printed, x.Relation, x.Recomputed.Value)
		}
		fmt.Fprintf(&b, "%s %d agree\n", f.Entry, agree)
		for _, c := range f.Claims {
			fmt.Fprintf(&b, "%s claim %s: %s %s\n", f.Entry, c.ID, c.Verdict, c.SingleRun)
		}
	}
	const golden = "testdata/findings.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("findings are\n%s\nand were\n%s\nif that is meant: go test ./internal/audit -update", b.String(), want)
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatal("no file is ", pattern, err)
	}
	return paths
}
