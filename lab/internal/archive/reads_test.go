package archive

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// lab is the directory with all of the lab's Go code.
const lab = "../.."

// whole finds tests that read the journal's own directories, by a relative path
// through the repository's top directory, or by one of the names that tests have for
// them.
var whole = regexp.MustCompile(`"(\.\./)+(lab/)?(data|content|experiments)\b|"(\.\./)+\.\."|archivetest\.Repository\b|\bcommitted(\(t|\(f|,)`)

// readers are the test files that do, each with the reason why a file that is
// added to the journal cannot fail it.
var readers = map[string]string{
	"cmd/lab/clone_linux_test.go":            "copies scripts and tools only",
	"cmd/linerate/outputs_test.go":           "one example, by its name",
	"internal/contest/look_linux_test.go":    "programs only",
	"internal/contest/schema_test.go":        "every example, each for itself",
	"internal/archive/archive_test.go":       "the whole journal has no fault; how much there is at least",
	"internal/archive/designs_test.go":       "one design, by its name",
	"internal/archive/repository_test.go":    "files by their names",
	"internal/audit/schema_test.go":          "every text, each for itself",
	"internal/derive/derive_test.go":         "one design, by its name",
	"internal/experiment/schema_test.go":     "every experiment, each for itself",
	"internal/generator/aggregate_test.go":   "programs only",
	"internal/audit/automatic_test.go":       "runs by their names",
	"internal/audit/audit_test.go":           "texts and runs by their names",
	"internal/derive/reach_test.go":          "designs by their names",
	"internal/derive/states_journal_test.go": "templates, and pages that are no entries",
	"internal/experiment/block_test.go":      "every design is read, each for itself",
	"internal/experiment/experiment_test.go": "every experiment is read, each for itself",
	"internal/experiment/first_test.go":      "experiments by their names",
	"internal/experiment/knobs_test.go":      "every experiment, each for itself",
	"internal/experiment/words_test.go":      "every claim, each for itself",
	"internal/law/journal_test.go":           "every run, each for itself",
	"internal/results/encode_test.go":        "some runs of each experiment, each for itself",
	"internal/results/file_test.go":          "runs in the order that they are asked for in",
	"internal/results/refused_test.go":       "some runs of each experiment, each for itself",
	"internal/results/results_test.go":       "some runs of each experiment, each for itself",
	"internal/results/sheet_test.go":         "every run, each for itself",
	"internal/run/knobs_test.go":             "designs by their names",
	"internal/run/place_linux_test.go":       "programs only",
	"internal/tell/tell_test.go":             "one example, by its name",
	"internal/verdict/claims_test.go":        "experiments by their names",
}

// Whoever adds an entry, a text, a host or a run changes no Go test. So tests
// rest on made-up files, on archivetest.Clone, or on files of the journal that they
// name. A test that reads all of its files must say nothing that a further valid
// file could make false, such as how many there are or in which order.
func TestNoTestRestsOnAllThatTheJournalHolds(t *testing.T) {
	err := filepath.WalkDir(lab, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		name, err := filepath.Rel(lab, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		text, err := os.ReadFile(path)
		if err != nil || name == "internal/archive/reads_test.go" {
			return err
		}
		if found := whole.Find(text); found != nil && readers[name] == "" {
			t.Errorf("%s reads the journal itself, by %s: use archivetest.Clone or made-up files, so that a new file cannot "+
				"fail it", name, found)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
