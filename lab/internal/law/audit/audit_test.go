package audit

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
)

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

// audited audits texts whose tables are of the journal's experiments and hosts, or of
// what was made up for tests.
func audited(t testing.TB, texts ...*File) []*File {
	t.Helper()
	files, err := auditOf(texts...)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func auditOf(texts ...*File) ([]*File, error) {
	experiments, hosts := []*experiment.Experiment{{Name: "99-x"}}, map[string]*host.Profile{"h": {}}
	for _, text := range texts {
		for _, table := range text.Tables {
			if table.Experiment != "x" && table.Experiment != "99-x" {
				experiments = append(experiments, &experiment.Experiment{Name: table.Experiment})
			}
			for _, id := range []string{table.Host, table.ClientHost} {
				if id != "" && id != "nobody" {
					hosts[id] = &host.Profile{}
				}
			}
		}
	}
	_, err := Of(texts, experiments, hosts)
	return texts, err
}

var update = flag.Bool("update", false, "write the golden list of findings")

// All findings about the texts of the first twelve entries, and the verdicts on
// all their claims. A new line here is a new finding. Other texts do not come into
// it: what is found in them is in data/audits.
func TestFindingsOfTheFirstTexts(t *testing.T) {
	texts, faults, err := LoadDir("../../../../data/texts")
	if err != nil || len(faults) > 0 {
		t.Fatal(err, faults)
	}
	texts = slices.DeleteFunc(texts, func(f *File) bool { return f.Entry > "11" && f.Entry < "a" })
	files := audited(t, texts...)
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
		t.Errorf("findings are\n%s\nand were\n%s\nif that is meant: go test ./internal/law/audit -update", b.String(), want)
	}
}
