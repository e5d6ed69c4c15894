// Package workflows checks rules of this repository's workflows that actionlint and
// zizmor do not know: which rights each job has, what starts it, and what a stranger's
// code gets near.
package workflows

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

type workflow struct {
	Name        string
	On          map[string]any
	Permissions map[string]string
	Concurrency struct {
		Group  string
		Cancel any `yaml:"cancel-in-progress"`
	}
	Jobs map[string]job
}

type job struct {
	If          string
	Needs       any
	RunsOn      string            `yaml:"runs-on"`
	Timeout     int               `yaml:"timeout-minutes"`
	Permissions map[string]string `yaml:"permissions"`
	Environment any
	Env         map[string]string
	Steps       []step
}

type step struct {
	Uses string
	Run  string
	Env  map[string]string
	With map[string]any
}

// files reads all workflows, by name of their file without its ending.
func files(t *testing.T) map[string]workflow {
	t.Helper()
	paths, err := filepath.Glob("../../.github/workflows/*.yml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no workflows: %v", err)
	}
	all := map[string]workflow{}
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		var w workflow
		if err := yaml.Unmarshal(data, &w); err != nil {
			t.Fatalf("%s: %v", p, err)
		}
		all[strings.TrimSuffix(filepath.Base(p), ".yml")] = w
	}
	return all
}

// A new right, or a new job, has to be written down here as well.
var rights = map[string]string{
	"ci/site":           "contents: read",
	"ci/test":           "contents: read",
	"ci/history":        "contents: read",
	"ci/workflows":      "contents: read",
	"ci/smoke":          "contents: read",
	"pages/build":       "contents: read",
	"pages/deploy":      "id-token: write, pages: write",
	"release/build":     "contents: read",
	"calibrate/measure": "contents: read",
	"release/image":     "contents: read, packages: write",
	"release/publish":   "attestations: write, contents: write, id-token: write",
}

func TestEachJobHasTheRightsItNeedsAndNoOther(t *testing.T) {
	got := map[string]string{}
	for file, w := range files(t) {
		if w.Permissions == nil || len(w.Permissions) > 0 {
			t.Errorf("%s: the rights of the whole workflow are %v, not {}", file, w.Permissions)
		}
		for id, j := range w.Jobs {
			var list []string
			for _, scope := range slices.Sorted(maps.Keys(j.Permissions)) {
				list = append(list, scope+": "+j.Permissions[scope])
			}
			got[file+"/"+id] = strings.Join(list, ", ")
			if j.Timeout == 0 || j.Timeout > 30 {
				t.Errorf("%s/%s: may take %d minutes", file, id, j.Timeout)
			}
			if j.RunsOn != "ubuntu-24.04" {
				t.Errorf("%s/%s: runs on %s; a series needs one image", file, id, j.RunsOn)
			}
		}
	}
	for id := range maps.Keys(got) {
		if want, ok := rights[id]; !ok || got[id] != want {
			t.Errorf("%s has the rights %q, want %q", id, got[id], want)
		}
	}
	if len(got) != len(rights) {
		t.Errorf("%d jobs, %d in the table", len(got), len(rights))
	}
}

func TestEachWorkflowIsStartedByItsEventsOnly(t *testing.T) {
	want := map[string]string{
		"ci":        "map[pull_request:<nil> push:map[branches:[main]]]",
		"pages":     "map[push:map[branches:[main]] workflow_dispatch:<nil>]",
		"release":   "map[push:map[tags:[v*]]]",
		"calibrate": "map[schedule:[map[cron:17 3 * * 1]] workflow_dispatch:<nil>]",
	}
	all := files(t)
	for file, w := range all {
		if got := fmt.Sprint(w.On); got != want[file] {
			t.Errorf("%s is started by %s, want %s", file, got, want[file])
		}
	}
	// A branch of that name could otherwise be deployed by hand.
	if j := all["pages"].Jobs["build"]; j.If != "${{ github.ref == 'refs/heads/main' }}" {
		t.Errorf("a job of main alone runs if %q", j.If)
	}
	if j := all["calibrate"].Jobs["measure"]; j.If != "${{ github.ref == 'refs/heads/main' }}" {
		t.Errorf("what measures for the journal runs if %q", j.If)
	}
	if all["pages"].Jobs["deploy"].Needs != "build" {
		t.Error("a job with rights does not wait for the one that checks the branch")
	}
}

func TestNoCommitOfMainIsCancelled(t *testing.T) {
	all := files(t)
	ci := all["ci"].Concurrency
	if ci.Cancel != "${{ github.event_name == 'pull_request' }}" ||
		ci.Group != "ci-${{ github.event_name == 'pull_request' && github.ref || github.run_id }}" {
		t.Errorf("ci: %+v", ci)
	}
	for file, w := range all {
		if w.Concurrency.Group == "" || file != "ci" && w.Concurrency.Cancel != false {
			t.Errorf("%s: %+v", file, w.Concurrency)
		}
	}
}

// What a fork's code may read: nothing but its own checkout.
func TestNoSecretIsNearAForksCode(t *testing.T) {
	secret := regexp.MustCompile(`secrets\b|github\.token|GITHUB_TOKEN`)
	for file, w := range files(t) {
		_, opened := w.On["pull_request"]
		if _, ok := w.On["pull_request_target"]; ok {
			t.Errorf("%s: pull_request_target", file)
		}
		for id, j := range w.Jobs {
			if opened && (fmt.Sprint(j.Permissions) != "map[contents:read]" || j.Environment != nil) {
				t.Errorf("%s/%s runs a fork's code with %v and %v", file, id, j.Permissions, j.Environment)
			}
			if opened && secret.MatchString(fmt.Sprintf("%+v", j)) {
				t.Errorf("%s/%s runs a fork's code near a secret", file, id)
			}
			for _, s := range j.Steps {
				if strings.HasPrefix(s.Uses, "actions/checkout@") && s.With["persist-credentials"] != false {
					t.Errorf("%s/%s leaves a token in its checkout", file, id)
				}
				if secret.MatchString(s.Run) {
					t.Errorf("%s/%s: a secret in the text of a command: %s", file, id, s.Run)
				}
			}
		}
	}
}

// zizmor sees that actions are pinned. Two pins of one action would be an oversight, and
// one without its version cannot be read.
func TestAnActionHasOnePin(t *testing.T) {
	pin := regexp.MustCompile(`uses: ([\w-]+/[\w-]+)@([0-9a-f]{40}) # (v[0-9]+\.[0-9]+\.[0-9]+)\n`)
	paths, _ := filepath.Glob("../../.github/workflows/*.yml")
	actions, _ := filepath.Glob("../../.github/actions/*/action.yml")
	paths = append(paths, actions...)
	seen := map[string]string{}
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		pins := pin.FindAllStringSubmatch(string(data), -1)
		if got := strings.Count(string(data), "uses: "); got != len(pins) {
			t.Errorf("%s: %d actions, %d pinned by commit with the version beside it", p, got, len(pins))
		}
		for _, m := range pins {
			if was := seen[m[1]]; was != "" && was != m[2]+" "+m[3] {
				t.Errorf("%s: %s is pinned at %s %s, elsewhere at %s", p, m[1], m[2], m[3], was)
			}
			seen[m[1]] = m[2] + " " + m[3]
		}
	}
}

// The form asks for what makes a report of a failed reproduction worth anything.
func TestTheFormForWhatIsNotReproducedAsksForTheRun(t *testing.T) {
	for form, want := range map[string][]string{
		"not-reproduced": {"claim", "verdict", "host", "commit", "doctor", "verdicts", "run"},
		"new-experiment": {"question", "believed", "design", "claims", "needs"},
	} {
		data, err := os.ReadFile("../../.github/ISSUE_TEMPLATE/" + form + ".yml")
		if err != nil {
			t.Fatal(err)
		}
		var f struct {
			Name, Description string
			Body              []struct {
				ID          string
				Type        string
				Attributes  map[string]any
				Validations struct{ Required bool }
			}
		}
		if err := yaml.Unmarshal(data, &f); err != nil {
			t.Fatalf("%s: %v", form, err)
		}
		var required []string
		for _, b := range f.Body {
			if b.Validations.Required {
				required = append(required, b.ID)
			}
			if b.Type != "markdown" && (b.ID == "" || b.Attributes["label"] == nil) {
				t.Errorf("%s: a field without an id or a label: %+v", form, b)
			}
		}
		if f.Name == "" || f.Description == "" || !slices.Equal(required, want) {
			t.Errorf("%s requires %v, want %v", form, required, want)
		}
	}
}

// What is pinned gets updates, or a reason beside it why not.
func TestEachKindOfDependencyIsUpdated(t *testing.T) {
	data, err := os.ReadFile("../../.github/dependabot.yml")
	if err != nil {
		t.Fatal(err)
	}
	var bot struct {
		Updates []struct {
			Ecosystem   string `yaml:"package-ecosystem"`
			Directory   string
			Directories []string
		}
	}
	if err := yaml.Unmarshal(data, &bot); err != nil {
		t.Fatal(err)
	}
	updated := map[string]bool{}
	for _, u := range bot.Updates {
		for _, dir := range append(u.Directories, u.Directory) {
			updated[u.Ecosystem+" "+dir] = true
		}
	}
	out, err := exec.Command("git", "-C", "../..", "ls-files", "--", "*go.sum", "*Cargo.lock", "*package-lock.json",
		"*requirements*.txt").Output()
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]string{"go.sum": "gomod", "Cargo.lock": "cargo", "package-lock.json": "npm"}
	for _, path := range strings.Fields(string(out)) {
		kind, ok := kinds[filepath.Base(path)]
		if !ok {
			kind = "pip"
		}
		if dir := filepath.Join("/", filepath.Dir(path)); !updated[kind+" "+dir] {
			t.Errorf("%s: dependabot.yml has no %s in %s", path, kind, dir)
		}
	}
}

// One version of Node, and one that gets fixes: 20 has had none since April 2026.
func TestWorkflowsRunASupportedNode(t *testing.T) {
	for file, w := range files(t) {
		for id, j := range w.Jobs {
			for _, s := range j.Steps {
				if v, ok := s.With["node-version"]; ok && v != "22" {
					t.Errorf("%s/%s: Node %v, not 22", file, id, v)
				}
			}
		}
	}
}
