package audit

import (
	"flag"
	"fmt"
	"math"
	"os"
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

// The runs that the first texts printed.
const firstRuns = `
01-servers/published-2026-05-15-mac-mini-m2
02-offered-rate/published-2026-05-15-mac-mini-m2
02-offered-rate/published-2026-06-01-c6i-2xlarge
02-prefork-spreads/published-2026-06-01-c6i-2xlarge
02-prefork-spreads/published-2026-06-01-mac-mini-m2
03-rps-rfs/published-2026-06-03-c8i-32xlarge
04-one-loop/published-2026-06-04-c8i-32xlarge
04-ramp/published-2026-06-04-c8i-32xlarge-half-minute
04-ramp/published-2026-06-04-c8i-32xlarge-wide
04-ramp/published-2026-06-05-c8i-32xlarge
05-littles-law/published-2026-06-05-c8i-32xlarge
06-irq-factorial/published-2026-06-06-c6i-2xlarge-compute
06-irq-factorial/published-2026-06-06-c6i-2xlarge-simple
06b-irq/published-2026-06-07-c8i-32xlarge-compute
06b-irq/published-2026-06-07-c8i-32xlarge-simple
06b-offered-rate/published-2026-06-07-c8i-32xlarge
08-cpu-bound/published-2026-06-08-c6in-8xlarge
08-irq-pinning/published-2026-06-08-c6in-8xlarge
09-mutex/published-2026-06-09-c6in-8xlarge
09-prefork/published-2026-06-09-c6in-8xlarge
09-prefork/published-2026-06-09-c8i-32xlarge
10-workers/published-2026-06-10-c8i-32xlarge
11-pipelining-read/published-2026-06-11-c8i-32xlarge
11-pipelining-simple/published-2026-06-11-c8i-32xlarge
11-threads/published-2026-06-11-c6in-8xlarge
11-workers-at-the-wall/published-2026-06-11-c8i-32xlarge
batch-offered/published-2024-10-14-unnamed-2024
`

// All findings about the texts of the first twelve entries, and the verdicts on
// all their claims. A new line here is a new finding. Other texts and runs do not
// come into it: what is found in them is in data/audits.
func TestFindingsOfTheFirstTexts(t *testing.T) {
	var texts []*Text
	for _, entry := range strings.Fields("01 02 03 04 05 06 06b 08 09 10 11 batch") {
		text, err := Load("../../../data/texts/" + entry + ".toml")
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
	var runs []*results.File
	for _, run := range strings.Fields(firstRuns) {
		r, err := results.Read("../../../data/results/" + run + ".json")
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
