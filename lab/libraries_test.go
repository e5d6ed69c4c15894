package lab_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const repository = "github.com/line-rate/line-rate/"

// command calls go in a directory, and gives the words that it prints. A module that the cache
// lacks is an error; nothing fetches it.
func command(t *testing.T, dir, mod string, args ...string) []string {
	t.Helper()
	cmd := exec.Command("go", args...)
	var errs strings.Builder
	cmd.Dir, cmd.Stderr = dir, &errs
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOPROXY=off", "GOFLAGS="+os.Getenv("GOFLAGS")+" -mod="+mod)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, errs.String())
	}
	return strings.Fields(string(out))
}

// Who imports a library from a module of their own gets nothing of what only the lab needs.
func TestLibrariesAreLightForOtherModules(t *testing.T) {
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	sums, err := os.ReadFile("go.sum")
	if err != nil {
		t.Fatal(err)
	}
	put("go.sum", string(sums))
	put("go.mod", "module example.org/outside\n\ngo 1.26.0\n\nrequire (\n\t"+repository+"lab v0.0.0\n\t"+repository+
		"lab/batch v0.0.0\n)\n\n"+
		"replace "+repository+"lab => "+here+"\n\nreplace "+repository+"lab/batch => "+filepath.Join(here, "batch")+"\n")
	// What a library brings with it: other libraries, and modules of others.
	libraries := map[string][]string{
		"lab/batch": nil, "lab/confseq": nil,
		"lab/compare": {repository + "lab/confseq"},
		"lab/load":    {"golang.org/x/sys/unix"},
	}
	// HTTP/2 is beside load because of what it brings.
	libraries["lab/load/h2"] = append([]string{repository + "lab/load", "golang.org/x/net/http2",
		"golang.org/x/net/http2/hpack", "golang.org/x/net/http/httpguts", "golang.org/x/net/idna",
		"golang.org/x/net/internal/httpcommon", "golang.org/x/net/internal/httpsfv", "golang.org/x/text/transform",
		"golang.org/x/text/secure/bidirule", "golang.org/x/text/unicode/bidi", "golang.org/x/text/unicode/norm"},
		libraries["lab/load"]...)
	text := "package main\n\nimport (\n"
	for name := range libraries {
		text += "\t_ \"" + repository + name + "\"\n"
	}
	put("main.go", text+")\n\nfunc main() {}\n")
	command(t, dir, "mod", "build", "-o", "outside", ".")
	for name, brings := range libraries {
		for _, dep := range command(t, dir, "mod", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}",
			repository+name) {
			if dep != repository+name && !slices.Contains(brings, dep) {
				t.Errorf("%s brings %s with it", name, dep)
			}
		}
	}
}

// What makes the pages measures nothing, and brings nothing that does.
func TestTheSiteBringsNothingThatMeasures(t *testing.T) {
	for _, dep := range command(t, ".", "readonly", "list", "-deps", "./internal/site") {
		if strings.Contains(dep, "netlink") || strings.HasSuffix(dep, "internal/run") ||
			strings.HasSuffix(dep, "internal/measure") {
			t.Errorf("site brings %s with it", dep)
		}
	}
}

// Who carries linerate away carries nothing of the journal, and nothing that turns a kernel's settings.
func TestLinerateKnowsNothingOfTheJournal(t *testing.T) {
	journals := []string{"archive", "experiment", "host", "journal", "madeup", "results",
		"run", "session", "site", "tune", "verdict", "wire", "law/audit"}
	for _, dep := range command(t, ".", "readonly", "list", "-deps", "./cmd/linerate") {
		if name, ok := strings.CutPrefix(dep, repository+"lab/internal/"); ok && slices.Contains(journals, name) {
			t.Errorf("linerate brings %s with it", dep)
		}
	}
}

// The server is in the module of what measures it, and only the server is made with what it serves by.
func TestOnlyTheServerBringsFrameworks(t *testing.T) {
	for _, dir := range []string{"cmd/lab", "cmd/linerate", "cmd/http_load"} {
		for _, dep := range command(t, ".", "readonly", "list", "-deps", "./"+dir) {
			if strings.HasPrefix(dep, "github.com/gofiber/") || strings.HasPrefix(dep, "github.com/valyala/") {
				t.Errorf("%s brings %s with it", dir, dep)
			}
		}
	}
}

// A program that holds a file of the lab is another program once that file changes, and its
// record then begins anew. So those that are measured or measure hold no names of designs.
func TestANewSettingChangesNoMeasuredProgram(t *testing.T) {
	for _, dir := range []string{"cmd/http_load", "server", "servers/floor", "batch/study/producer", "batch/study/sink"} {
		for _, dep := range command(t, dir, "readonly", "list", "-deps", ".") {
			if slices.Contains([]string{"setting", "gate", "metric", "strict", "experiment"}, path.Base(dep)) {
				t.Errorf("%s holds %s", dir, dep)
			}
		}
	}
}

// A package's comment says what it is for; nothing else maps the code.
func TestEachPackageSaysWhatItIsFor(t *testing.T) {
	var mods []string
	err := filepath.WalkDir(".", func(at string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "go.mod" {
			mods = append(mods, at)
		}
		return err
	})
	if err != nil || len(mods) < 6 {
		t.Fatalf("%v, %v", mods, err)
	}
	for _, mod := range mods {
		silent := "{{if not .Doc}}{{.ImportPath}}{{end}}"
		for _, pkg := range command(t, filepath.Dir(mod), "readonly", "list", "-find", "-f", silent, "./...") {
			t.Errorf("%s has no comment that says what it is for", pkg)
		}
	}
}
