package workflows

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// ran runs the script of the actions as they do, with a linerate that exits with a status.
func ran(t *testing.T, what string, status int, env ...string) (exit int, says, dir string) {
	t.Helper()
	dir = t.TempDir()
	linerate := filepath.Join(dir, "linerate", "bin")
	for _, of := range []string{filepath.Dir(linerate), filepath.Join(dir, "parts")} {
		if err := os.MkdirAll(of, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	stub := "#!/bin/sh\nprintf '%s\\n' \"$@\" >>" + dir + "/called\n" +
		"case \"$*\" in compare*|*--json*) echo '{}'; exit " + strconv.Itoa(status) + ";; esac\n"
	if err := os.WriteFile(linerate, []byte(stub), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "parts", "1.json"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	made := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "../../.github/actions/linerate.sh", what)
	made.Env = append(os.Environ(), "RUNNER_TEMP="+dir, "GITHUB_STEP_SUMMARY="+dir+"/summary", "GITHUB_OUTPUT="+dir+"/output",
		"PARTS="+dir+"/parts", "NAME=linerate", "BASE=HEAD^1", "HEAD=HEAD", "BUDGET=60s", "MARGIN=3%", "BUILD=make server",
		"URL=/a b", "SCENARIOS=", "FAIL_ABOVE=1.05", "FLAGS=", "RUNNER=", "COMMAND=./server --name 'a b' --addr {addr} $HOME *")
	made.Env = append(made.Env, env...)
	out, _ := made.CombinedOutput()
	return made.ProcessState.ExitCode(), string(out), dir
}

// A runner that is too noisy, or a budget that is too short, is a warning. The job fails
// where the new server costs too much, and where nothing was compared.
func TestTheActionsFailOnlyWhereThePageSaysSo(t *testing.T) {
	for _, c := range []struct {
		linerate, step int
		says           string
	}{
		{0, 0, ""}, {1, 0, "::warning::not decided"}, {2, 0, "::warning::no verdict"}, {3, 3, "::error::"}, {4, 4, "::error::"},
	} {
		for _, what := range []string{"compare", "combine"} {
			exit, says, _ := ran(t, what, c.linerate)
			if exit != c.step || !strings.HasPrefix(says, c.says) || c.says == "" && says != "" {
				t.Errorf("%s: linerate exits with %d: the step exits with %d and says %q, want %d and %q", what, c.linerate, exit,
					says, c.step, c.says)
			}
		}
		// One of several runners gives no verdict.
		step := 0
		if c.linerate == 3 {
			step = 3
		}
		exit, says, dir := ran(t, "compare", c.linerate, "RUNNER=2")
		_, err := os.Stat(filepath.Join(dir, "linerate", "linerate-2.json"))
		if exit != step || strings.Contains(says, "::warning::") || (err == nil) != (step == 0) {
			t.Errorf("a runner of which linerate exits with %d: the step exits with %d and says %q; %v", c.linerate, exit, says, err)
		}
	}
}

// An input is words for linerate, whatever a shell might make of it.
func TestInputsAreNoShell(t *testing.T) {
	_, _, dir := ran(t, "compare", 0, "FLAGS=--warmup '2 s'")
	called, err := os.ReadFile(filepath.Join(dir, "called"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"compare", "--base", "HEAD^1", "--head", "HEAD", "--budget", "60s", "--margin", "3%", "--json", "--build",
		"make server", "--url", "/a b", "--fail-above", "1.05", "--warmup", "2 s", "--", "./server", "--name", "a b", "--addr",
		"{addr}", "$HOME", "*"}
	if got := strings.Split(string(called), "\n"); !slices.Equal(got[:min(len(got), len(want))], want) {
		t.Errorf("%q, want %q", got, want)
	}
	if exit, says, _ := ran(t, "compare", 0, "NAME=../x"); exit != 3 || !strings.HasPrefix(says, "::error::") {
		t.Errorf("a name with a path: %d, %q", exit, says)
	}
}

// The workflows that the site offers: what measures has no right but to read.
func TestTheExamplesMayOnlyRead(t *testing.T) {
	rights := map[string]string{}
	for _, name := range []string{"compare", "compare-runners"} {
		data, err := os.ReadFile("../../static/examples/" + name + ".yml")
		if err != nil {
			t.Fatal(err)
		}
		var w struct{ Jobs map[string]job }
		if err := yaml.Unmarshal(data, &w); err != nil {
			t.Fatal(name, err)
		}
		for id, j := range w.Jobs {
			rights[name+"/"+id] = strings.Join(slices.Sorted(maps.Keys(j.Permissions)), ", ")
			for _, s := range j.Steps {
				action, ref, _ := strings.Cut(strings.TrimPrefix(s.Uses, "line-rate/line-rate/"), "@")
				if strings.HasPrefix(s.Uses, "line-rate/") {
					var a struct{ Inputs map[string]any }
					if data, err := os.ReadFile(filepath.Join("../..", action, "action.yml")); err != nil || ref != "v1" {
						t.Errorf("%s: %s: %v", name, s.Uses, err)
					} else if err := yaml.Unmarshal(data, &a); err != nil {
						t.Error(err)
					}
					for input := range s.With {
						if a.Inputs[input] == nil {
							t.Errorf("%s: %s has no input %s", name, action, input)
						}
					}
				}
			}
		}
	}
	want := map[string]string{"compare/compare": "contents", "compare-runners/measure": "contents",
		"compare-runners/verdict": "contents"}
	if !maps.Equal(rights, want) {
		t.Errorf("%v, want %v", rights, want)
	}
}
