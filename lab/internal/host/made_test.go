package host

import (
	"maps"
	"slices"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/program"
)

// A record holds one set of programs, so what tells a program must change with what it is
// made of, and with nothing else.
func TestAProgramIsToldByWhatItIsMadeOf(t *testing.T) {
	dir, git := checkout(t)
	write(t, dir, "lab/go.mod", "module "+module+"\n\ngo 1.26\n")
	const beside = " v0.0.0\n\nreplace " + module
	write(t, dir, "lab/null/go.mod", "module "+module+"/null\n\ngo 1.26\n\nrequire "+module+beside+" => ../\n")
	write(t, dir, "lab/fiber/go.mod", "module "+module+"/fiber\n\ngo 1.26\n\nrequire "+module+beside+" => ../\n")
	write(t, dir, "lab/study/go.mod", "module "+module+"/study\n\ngo 1.26\n\nrequire "+module+"/batch"+beside+
		"/batch => ../batch\n")
	write(t, dir, "lab/batch/go.mod", "module "+module+"/batch\n\ngo 1.26\n")
	write(t, dir, "lab/batch/batch.go", "package batch\n")
	write(t, dir, "lab/server/catalog/catalog.go",
		"package catalog\n\nimport _ \"embed\"\n\n//go:embed body.txt\nvar Body string\n")
	write(t, dir, "lab/server/catalog/body.txt", "a body\n")
	write(t, dir, "lab/fiber/main.go", "package main\n\nimport _ \""+module+"/server/catalog\"\n\nfunc main() {}\n")
	write(t, dir, "lab/fiber/main_test.go", "package main\n")
	write(t, dir, "lab/fiber/pgo/one.pgo", "profile\n")
	write(t, dir, "lab/null/main.go", "package main\n\nimport _ \""+module+"/server/catalog\"\n\nfunc main() {}\n")
	write(t, dir, "lab/study/producer/main.go", "package main\n\nimport _ \""+module+"/batch\"\n\nfunc main() {}\n")
	write(t, dir, "lab/cmd/lab/main.go", "package main\n\nfunc main() {}\n")
	git("add", ".")
	git("commit", "--quiet", "--no-verify", "-m", "programs")
	tags := ""
	told := func() map[string]string {
		t.Helper()
		var err error
		if tags, err = BuildTags(dir, tags); err != nil {
			t.Fatal(err)
		}
		return program.ParseStamp(tags).Parts
	}
	before := told()
	if names := slices.Sorted(maps.Keys(before)); !slices.Equal(names, []string{"fiber", "null", "one.pgo", "producer"}) {
		t.Fatalf("parts %q", names)
	}
	for _, c := range []struct {
		file, text string
		changes    []string
	}{
		{"lab/fiber/main.go", "package main\n\nimport _ \"" + module + "/server/catalog\"\n\nfunc main() { println() }\n",
			[]string{"fiber"}},
		{"lab/fiber/other_windows.go", "package main\n", []string{"fiber"}},
		{"lab/fiber/main_test.go", "package main\n\n// Another.\n", nil},
		{"lab/cmd/lab/main.go", "package main\n\nfunc main() { println() }\n", nil},
		{"lab/null/main.go", "package main\n\nimport _ \"" + module + "/server/catalog\"\n\nfunc main() { println() }\n",
			[]string{"null"}},
		{"lab/server/catalog/body.txt", "another body\n", []string{"fiber", "null"}},
		{"lab/batch/batch.go", "package batch\n\nconst Size = 1\n", []string{"producer"}},
		{"lab/fiber/pgo/one.pgo", "another profile\n", []string{"one.pgo"}},
	} {
		write(t, dir, c.file, c.text)
		now := told()
		var changed []string
		for _, name := range slices.Sorted(maps.Keys(now)) {
			if now[name] != before[name] {
				changed = append(changed, name)
			}
		}
		if !slices.Equal(changed, c.changes) {
			t.Errorf("%s: %q are told to be others, want %q", c.file, changed, c.changes)
		}
		before = now
	}
}

// One program from the same files is two, where the compiler was told otherwise; a commit
// of something else makes it no other.
func TestABuildsSettingsArePartOfAProgram(t *testing.T) {
	dir, git := checkout(t)
	write(t, dir, "lab/go.mod", "module "+module+"\n\ngo 1.26\n")
	write(t, dir, "lab/fiber/main.go", "package main\n\nfunc main() {}\n")
	write(t, dir, "lab/fiber/pgo/one.pgo", "")
	write(t, dir, ".gitignore", "/.tools/\n")
	git("add", ".")
	git("commit", "--quiet", "--no-verify", "-m", "a program")
	made := func(flags ...string) Binary {
		t.Helper()
		tags, err := BuildTags(dir, "")
		if err != nil {
			t.Fatal(err)
		}
		goBuildOf(t, dir, "./fiber", append(flags, "-tags", tags)...)
		p, err := FindPrograms(dir, "", []string{"fiber_server"})
		if err != nil {
			t.Fatal(err)
		}
		b := p.Binaries()["fiber_server"]
		if len(b.MadeOf) != 64 {
			t.Fatalf("made of %q", b.MadeOf)
		}
		return b
	}
	first := made()
	if slow := made("-gcflags=-N"); slow.MadeOf == first.MadeOf {
		t.Error("without the compiler's optimisations it is the same program")
	}
	write(t, dir, "lab/cmd/lab/main.go", "package main\n\nfunc main() {}\n")
	git("add", ".")
	git("commit", "--quiet", "--no-verify", "-m", "the lab")
	if next := made(); next.MadeOf != first.MadeOf || next.SHA256 == first.SHA256 || next.Sources == first.Sources {
		t.Errorf("after a change of the lab alone: %+v, and before %+v", next, first)
	}
}

func TestAutocannonIsToldByItsVersionAndItsScripts(t *testing.T) {
	dir := t.TempDir()
	of := func() string {
		t.Helper()
		p, err := FindPrograms(dir, "", []string{autocannon})
		if err != nil {
			t.Fatal(err)
		}
		return p.Binaries()[autocannon].MadeOf
	}
	write(t, dir, "lab/scripts/trial.sh", "one")
	write(t, dir, "node_modules/autocannon/package.json", `{"version": "9.0.0"}`)
	seen := map[string]string{of(): "at first"}
	write(t, dir, "node_modules/autocannon/README.md", "a word more")
	if seen[of()] == "" {
		t.Error("with another README it is another program")
	}
	write(t, dir, "node_modules/autocannon/package.json", `{"version": "9.0.1"}`)
	if was := seen[of()]; was != "" {
		t.Errorf("another version is the program that it was %s", was)
	}
	seen[of()] = "in its next version"
	write(t, dir, "lab/scripts/trial.sh", "two")
	if was := seen[of()]; was != "" {
		t.Errorf("driven by another script it is the program that it was %s", was)
	}
}
