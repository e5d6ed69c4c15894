package lab_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A stranger who adds a row to one of these tables has to name it in at most so many files, with
// the table's own: the plainest of its rows shows it. A list beside a table that has to be kept
// alike would be one more.
func TestAStrangerNamesANewRowInFewPlaces(t *testing.T) {
	out, err := exec.Command("git", "ls-files", "..").Output()
	if err != nil {
		t.Skip("a checkout is needed: ", err)
	}
	texts := map[string]string{}
	for path := range strings.Lines(string(out)) {
		path = strings.TrimSpace(path)
		data, err := os.ReadFile(path)
		product := regexp.MustCompile(`^[a-z].*\.(go|toml|sh)$|^\.\./(layouts/|content/[a-z]+\.md)`).MatchString(path) &&
			!regexp.MustCompile(`_test\.go$|/testdata/|^experiments/`).MatchString(path)
		if err == nil && product {
			texts[path] = string(data)
		}
	}
	match := func(path, pattern string) (names []string) {
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(texts[path], -1) {
			names = append(names, m[1])
		}
		return names
	}
	settings := "internal/setting/settings.toml"
	constants := map[string]string{} // of package setting, by the name of the setting
	for _, m := range regexp.MustCompile(`\t(\w+) += "(\w+)"`).FindAllStringSubmatch(texts["internal/setting/setting.go"], -1) {
		constants[m[2]] = m[1]
	}
	var pages []string
	for path := range texts {
		if name, is := strings.CutSuffix(filepath.Base(path), ".html"); is && filepath.Dir(path) == "../layouts" {
			pages = append(pages, name)
		}
	}
	for _, c := range []struct {
		what  string
		names []string
		how   string // a file names one: %s is the name
		most  int
	}{
		{"metric", match("internal/metric/metrics.toml", `(?m)^name = "(\w+)"`), `"%s"`, 2},
		{"kernel setting", match(settings, `knob = \{ script = "([\w-]+)"`), `"%s"`, 2},
		{"kind of chart", match("internal/site/figure.go", `(?m)^\t"(\w+)": +\{.*\(\*Site\)`), `"%[1]s"|Site\) %[1]s\(`, 2},
		{"kind of page", pages, `(?m)^layout = "%[1]s"`, 3}, // and what the lab tells it,
		{"load option", match(settings, `name = "(connections|pipelining|client_workers|rate)"`), `"%s"`, 4},
	} {
		var plainest []string
		for _, name := range c.names {
			how := fmt.Sprintf(c.how, name)
			if constant := constants[name]; constant != "" {
				how += `|setting\.` + constant + `\b`
			}
			named, places := regexp.MustCompile(how), []string(nil)
			for path, text := range texts {
				if named.MatchString(text) || path == "../layouts/"+name+".html" {
					places = append(places, path)
				}
			}
			if len(places) > 1 && (plainest == nil || len(places) < len(plainest)) {
				plainest = places
			}
		}
		slices.Sort(plainest)
		if n := len(plainest); n < 2 || n > c.most {
			t.Errorf("a %s is named in %d files, and %d are to be enough: %v", c.what, n, c.most, plainest)
		}
	}
}
