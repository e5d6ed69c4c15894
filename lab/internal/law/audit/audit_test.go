package audit

import (
	"flag"
	"fmt"
	"os"
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
func audited(t testing.TB, texts ...*Text) []*File {
	t.Helper()
	files, err := auditOf(texts...)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func auditOf(texts ...*Text) ([]*File, error) {
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
	return Of(texts, experiments, hosts)
}

var update = flag.Bool("update", false, "write the golden list of findings")

// All findings about the texts of the first twelve entries, and the verdicts on
// all their claims. A new line here is a new finding. Other texts do not come into
// it: what is found in them is in data/audits.
func TestFindingsOfTheFirstTexts(t *testing.T) {
	var texts []*Text
	for _, entry := range strings.Fields("01 02 03 04 05 06 06b 08 09 10 11 batch") {
		text, err := Load("../../../../data/texts/" + entry + ".toml")
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
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
