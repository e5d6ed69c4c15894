package law_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// The journal's own trials keep the laws that it holds others against: we judge what it publishes of each run as CSV, as
// a reader would. It has quantiles of much beside latency, and figures that no head says in full.
func TestTheJournalsOwnTrialsKeepTheLaws(t *testing.T) {
	paths, err := filepath.Glob("../../../data/results/*/*.json")
	if err != nil || len(paths) < 40 {
		t.Fatal(len(paths), err)
	}
	held, said := 0, map[law.Verdict]int{}
	for _, path := range paths {
		f, err := results.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		sheet, err := f.Sheet()
		if err != nil {
			t.Fatal(err)
		}
		report, err := law.Judge(path, sheet, law.Options{MadeBy: "another"})
		if err != nil {
			continue // of batches, say, which have no figure of HTTP
		}
		for _, found := range report.Findings {
			if !strings.HasPrefix(found.Unless, "pipelining is not given") {
				t.Errorf("%s as CSV, line %d: %s", path, found.Line, found.Says)
			}
		}
		for verdict, n := range report.Of {
			said[verdict] += n
		}
		held += report.Laws[law.InFlight].Held
	}
	if held < 1000 || said[law.Sound] < 1000 {
		t.Errorf("few trials were held against laws: %v, %v", held, said)
	}
	t.Log(held, said)
}
