package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const (
	built  = "0123456789abcdef0123456789abcdef01234567"
	newer  = "89abcdef0123456789abcdef0123456789abcdef"
	honest = "### What moved since `85c8f8c177a4`\n\n1 claim has another verdict on 1 machine.\n\n**New runs**\n\n- " +
		"`aa` on `a|<b>`: 1 run, 45 trials, 7 invalid (`other-load` 10)\n"
)

// A stub stands for GitHub: it answers from what a case gives it and records what is
// written.
type stub struct {
	pulls     string
	artifacts string
	archive   []byte
	comments  []string // a JSON array a page
	kind      kind
	asked     []string
	wrote     []string
}

func (s *stub) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	path := strings.TrimPrefix(q.URL.Path, "/repos/line-rate/line-rate")
	s.asked = append(s.asked, q.URL.String())
	switch {
	case q.Header.Get("Authorization") != "Bearer token":
		w.WriteHeader(401)
	case q.Method != "GET":
		var body struct{ Body string }
		data, _ := io.ReadAll(q.Body)
		if json.Unmarshal(data, &body) != nil {
			w.WriteHeader(400)
		}
		s.wrote = append(s.wrote, q.Method+" "+path+"\n"+body.Body)
	case path == "/pulls":
		fmt.Fprint(w, s.pulls)
	case path == "/actions/runs/77/artifacts":
		fmt.Fprint(w, s.artifacts)
	case path == "/actions/artifacts/5/zip":
		w.Write(s.archive)
	case strings.HasSuffix(path, "/comments"):
		page := 0
		fmt.Sscanf(q.URL.Query().Get("page"), "%d", &page)
		fmt.Fprint(w, s.comments[page-1])
	default:
		w.WriteHeader(404)
	}
}

func zipped(t *testing.T, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		w, err := z.Create(files[i])
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, files[i+1])
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// pull is a pull request of repository 9.
func pull(number int, commit string, repository int) string {
	return fmt.Sprintf(`{"number":%d,"head":{"sha":"%s","repo":{"id":%d}}}`, number, commit, repository)
}

func usual(t *testing.T, report string) *stub {
	return &stub{
		pulls:     "[" + pull(12, built, 9) + "]",
		artifacts: `{"artifacts":[{"id":5,"name":"report","size_in_bytes":900}]}`,
		archive:   zipped(t, "report.md", report),
		comments:  []string{"[]"},
		kind:      reports,
	}
}

// post runs the command on a build of the branch "a b&state=all" by a fork.
func post(t *testing.T, s *stub, changes ...string) (string, error) {
	t.Helper()
	server := httptest.NewServer(s)
	defer server.Close()
	text := strings.NewReplacer(changes...).Replace(`{"workflow_run":{"id":77,"event":"pull_request","head_sha":"` +
		built + `","head_branch":"a b&state=all","head_repository":{"id":9,"owner":{"login":"stranger"}},"pull_requests":[]}}`)
	path := filepath.Join(t.TempDir(), "event.json")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"GITHUB_EVENT_PATH": path, "GITHUB_API_URL": server.URL,
		"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "line-rate/line-rate", "GITHUB_TOKEN": "token"}
	return run(func(name string) string { return env[name] }, s.kind)
}

func TestOneCommentIsPostedWhereGitHubSaysNotWhereTheReportDoes(t *testing.T) {
	s := usual(t, honest)
	said, err := post(t, s)
	if err != nil || said != "commented on pull request 12" {
		t.Fatalf("%q, %v", said, err)
	}
	if len(s.wrote) != 1 || !strings.HasPrefix(s.wrote[0], "POST /issues/12/comments\n"+reports.marker+"\n"+
		strings.TrimSpace(honest)) {
		t.Fatalf("wrote %q", s.wrote)
	}
	if want := "by [this build](https://github.com/line-rate/line-rate/actions/runs/77)"; !strings.Contains(s.wrote[0],
		want) || !strings.Contains(s.wrote[0], built) {
		t.Errorf("the comment does not say where it comes from: %q", s.wrote[0])
	}
	// A branch's name is a stranger's text: it stays one value of the question.
	if want := "/repos/line-rate/line-rate/pulls?head=stranger%3Aa+b%26state%3Dall&per_page=100&state=open"; s.asked[0] != want {
		t.Errorf("asked %s, want %s", s.asked[0], want)
	}
}

func TestItsOwnCommentIsUpdatedAndNobodyElses(t *testing.T) {
	person := `{"id":1,"body":"` + reports.marker + `","user":{"login":"stranger","type":"User"}}`
	namesake := `{"id":2,"body":"` + reports.marker + `","user":{"login":"github-actions[bot]","type":"User"}}`
	another := `{"id":3,"body":"hello","user":{"login":"github-actions[bot]","type":"Bot"}}`
	own := `{"id":4,"body":"` + reports.marker + `\nold","user":{"login":"github-actions[bot]","type":"Bot"}}`
	full := "[" + strings.Repeat(another+",", 99) + another + "]"
	for _, c := range []struct {
		name     string
		comments []string
		want     string
	}{
		{"there", []string{"[" + person + "," + namesake + "," + another + "," + own + "]"}, "PATCH /issues/comments/4"},
		{"on the second page", []string{full, "[" + own + "]"}, "PATCH /issues/comments/4"},
		{"not there", []string{"[" + person + "," + namesake + "," + another + "]"}, "POST /issues/12/comments"},
	} {
		s := usual(t, honest)
		s.comments = c.comments
		if _, err := post(t, s); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if len(s.wrote) != 1 || !strings.HasPrefix(s.wrote[0], c.want+"\n") {
			t.Errorf("%s: wrote %q, want one %s", c.name, s.wrote, c.want)
		}
	}
}

func TestABuildThatHasNothingToPostIsNoFailure(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(*stub)
		changes []string
	}{
		{"of a push", func(*stub) {}, []string{`"event":"pull_request"`, `"event":"push"`}},
		{"no pull request", func(s *stub) { s.pulls = "[]" }, nil},
		{"a newer commit", func(s *stub) { s.pulls = "[" + pull(12, newer, 9) + "]" }, nil},
		{"another repository's branch of that name", func(s *stub) { s.pulls = "[" + pull(12, built, 10) + "]" }, nil},
		{"a fork that is gone", func(s *stub) {
			s.pulls = `[{"number":12,"head":{"sha":"` + built + `","repo":null}}]`
		}, nil},
		{"no artifact", func(s *stub) { s.artifacts = `{"artifacts":[]}` }, nil},
		{"an expired one", func(s *stub) { s.artifacts = `{"artifacts":[{"id":5,"name":"report","expired":true}]}` }, nil},
	} {
		s := usual(t, honest)
		c.change(s)
		_, err := post(t, s, c.changes...)
		if nothing := errNothing(""); !errors.As(err, &nothing) || len(s.wrote) > 0 {
			t.Errorf("%s: %v, wrote %q", c.name, err, s.wrote)
		}
	}
}

func TestAForgedArtifactIsRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*stub)
		want   string
	}{
		{"a number beside the report", func(s *stub) { s.archive = zipped(t, "report.md", honest, "number", "1") },
			"something else than the file report.md"},
		{"two pull requests", func(s *stub) { s.pulls = "[" + pull(12, built, 9) + "," + pull(13, built, 9) + "]" },
			"[12 13]"},
		{"another name in it", func(s *stub) { s.archive = zipped(t, "../report.md", honest) }, "something else"},
		{"a directory", func(s *stub) { s.archive = zipped(t, "report.md/", "") }, "something else"},
		{"no archive", func(s *stub) { s.archive = []byte(honest) }, "zip: not a valid zip file"},
		{"too large, as GitHub says", func(s *stub) { s.artifacts = `{"artifacts":[{"id":5,"name":"report","size_in_bytes":300000}]}` }, "262144 are allowed"},
		{"too large, as seen", func(s *stub) { s.archive = make([]byte, mostArchive+1) }, "more than 262144 bytes"},
		{"large once unpacked", func(s *stub) { s.archive = zipped(t, "report.md", strings.Repeat("a", 2<<20)) },
			"more than 60000 bytes"},
		{"another artifact", func(s *stub) { s.artifacts = `{"artifacts":[{"id":5,"name":"site"}]}` }, `named "site"`},
		{"not UTF-8", func(s *stub) { s.archive = zipped(t, "report.md", "\xff") }, "not UTF-8"},
	} {
		s := usual(t, honest)
		c.change(s)
		if _, err := post(t, s); err == nil || !strings.Contains(err.Error(), c.want) || len(s.wrote) > 0 {
			t.Errorf("%s: %v, wrote %q", c.name, err, s.wrote)
		}
	}
}

func TestAReportWithMarkupIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		" \n":                             "it is empty",
		"a\n<img src=x onerror=alert(1)>": "line 2: '<' outside of code",
		"<!-- lab report -->":             "'<'",
		"</details>":                      "'<'",
		`\\<b>`:                           `'\\'`,
		"\\`<b>\\`":                       `'\\'`,
		"![x](https://github.com/line-rate/line-rate/x.png)": "'!'",
		"@octocat, look":                 "'@'",
		"&#64;octocat":                   "'&'",
		"&commat;octocat":                "'&'",
		"mail@example.org":               "'@'",
		"fixes #1":                       "'#'",
		"see other/repo#12":              "'#'",
		"#### deep":                      "'#'",
		"GH-7":                           `"GH-7"`,
		"```mermaid":                     "two backquotes",
		"- ```mermaid":                   "two backquotes",
		"1. ```mermaid":                  "two backquotes",
		"> ~~~ geojson":                  "'>'",
		"- ~~~ geojson":                  "'~'",
		"`a` ``b` <i>":                   "two backquotes",
		"`odd":                           "'`'",
		"`a` `<b>":                       "'`'",
		"> [!CAUTION]":                   "'>'",
		"- > [!CAUTION]":                 "'>'",
		"$\\href{//x.org}{x}$":           "'$'",
		"a $`x`$":                        "'$'",
		"- [x] done":                     "'['",
		"a | b":                          "'|'",
		"*approved*":                     "'*'",
		"[log in](https://example.org/)": "'['",
		"[^1]":                           "'['",
		"https&#58;//example.org":        "'&'",
		"https://github.com/line-rate/line-rate/issues/1": `":/"`,
		"see www.example.org":                             `"www."`,
		":tada: approved":                                 `":t"`,
		"a\rb":                                            "U+000D",
		"`a\x1b[31m`":                                     "U+001B",
		"right\u202eleft":                                 "U+202E",
		"`zero\u200bwidth`":                               "U+200B",
		"\u0430pproved":                                   "outside of code",
	} {
		if err := allowed(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	for _, text := range []string{honest, "`<b> @x #1 https://example.org $x$ [a](b) ![c](d) > \\`",
		"- `a`: `b` → `c` on 1 machine", "1 + 1 = 2, 5 %"} {
		if err := allowed(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// The whole way of a report: lab report, as ci.yml calls it, of a change that adds runs and
// names that are markup; then the archive, the event and the request that posts it.
func TestARealReportIsPosted(t *testing.T) {
	lab, err := filepath.Abs("../../.tools/bin/lab")
	if err == nil {
		_, err = os.Stat(lab)
	}
	if err != nil {
		t.Fatalf("%v; make build makes it", err)
	}
	root := t.TempDir()
	for _, dir := range []string{"data", "lab"} {
		if err := os.CopyFS(filepath.Join(root, dir), os.DirFS("../../test/site/fixture/"+dir)); err != nil {
			t.Fatal(err)
		}
	}
	call := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		var said bytes.Buffer
		cmd.Stderr = &said
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, said.String())
		}
		return string(out)
	}
	commit := func() {
		call("git", "add", "-A")
		call("git", "-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-qm", "x")
	}
	runs := filepath.Join(root, "data/results/90-workers")
	later := filepath.Join(t.TempDir(), "later")
	if err := os.Rename(runs, later); err != nil {
		t.Fatal(err)
	}
	call("git", "init", "-q")
	commit()
	if err := os.Rename(later, runs); err != nil {
		t.Fatal(err)
	}
	hostile := "`<img src=x>` @octocat $\\\\href{x}{y}$ [a](https://example.org)"
	profile := `{"schema_version":2,"id":"hostile","name":"` + hostile +
		`","cpu":"CPU","arch":"amd64","cores":2,"os":"linux"}`
	if err := os.WriteFile(filepath.Join(root, "data/hosts/hostile.json"), []byte(profile), 0o644); err != nil {
		t.Fatal(err)
	}
	commit()
	report := call(lab, "report", "--against", "HEAD^1", "--markdown")
	for _, want := range []string{"### What moved since `", "\n**New runs**\n\n- `90-workers` on `",
		"- `hostile`: `\\u0060<img src=x>"} {
		if !strings.Contains(report, want) {
			t.Errorf("no %q in:\n%s", want, report)
		}
	}
	// As it is for a change that moves nothing.
	for _, report := range []string{report, call(lab, "report", "--against", "HEAD", "--markdown")} {
		s := usual(t, report)
		if said, err := post(t, s); err != nil || said != "commented on pull request 12" {
			t.Fatalf("%q, %v:\n%s", said, err, report)
		}
		if len(s.wrote) != 1 || !strings.Contains(s.wrote[0], strings.TrimSpace(report)) {
			t.Errorf("wrote %q", s.wrote)
		}
	}
}

// What a stranger's build calls an outcome: its names and sentences are no markup, and what
// linerate cannot read is not posted.
func TestAnOutcomeIsPostedAsFiguresAndNames(t *testing.T) {
	linerate, err := filepath.Abs("../../.tools/bin/linerate")
	if err == nil {
		_, err = os.Stat(linerate)
	}
	if err != nil {
		t.Fatalf("%v; make build makes it", err)
	}
	figures := `{"schema_version":1,"margin":0.03,"confidence":0.95,"blocks":9,"servers":[{"name":"base","bound":"server-cpu"},` +
		`{"name":"NAME","bound":"server-cpu","server_cpu_per_request_s":11e-6}],"comparisons":[{"name":"NAME","base":"base",` +
		`"verdict":"dearer","says":"NAME costs 10.0 % more CPU a request than base","server_cpu_per_request_s":` +
		`{"ratio":1.1,"blocks":9,"low":1.08,"high":1.12}}],"notes":["NAME"]}`
	s := usual(t, honest)
	s.kind = outcome("linerate", linerate)
	s.artifacts = `{"artifacts":[{"id":5,"name":"linerate","size_in_bytes":900}]}`
	s.archive = zipped(t, "linerate.json", strings.ReplaceAll(figures, "NAME", "head"))
	s.comments = []string{`[{"id":4,"body":"<!-- linerate linerate -->\nold","user":{"login":"github-actions[bot]","type":"Bot"}}]`}
	if said, err := post(t, s); err != nil || said != "updated the comment of pull request 12" {
		t.Fatalf("%q, %v", said, err)
	}
	for _, want := range []string{"PATCH /issues/comments/4\n<!-- linerate linerate -->\n**head costs 10.0 % more",
		"| CPU a request | × 1.100 (1.080 to 1.120) | 11 µs |", "anyone who can change that code can change these figures"} {
		if !strings.Contains(s.wrote[0], want) {
			t.Errorf("no %q in %s", want, s.wrote[0])
		}
	}
	s.wrote = nil
	hostile := "<img src=x> @octocat ` [a](https://example.org) | $x$ #1"
	s.archive = zipped(t, "linerate.json", strings.ReplaceAll(figures, "NAME", hostile))
	if _, err := post(t, s); err != nil {
		t.Fatal(err)
	}
	body, _, _ := strings.Cut(strings.TrimPrefix(s.wrote[0], "PATCH /issues/comments/4\n<!-- linerate linerate -->\n"), "<details>")
	for _, cell := range strings.FieldsFunc(body, func(r rune) bool { return r == '|' || r == '\n' }) { // as tables are read
		if words := code.ReplaceAllString(cell, ""); strings.ContainsAny(words, "<@#$[`") || strings.Contains(words, "http") {
			t.Errorf("markup of a stranger: %s", cell)
		}
	}
	for want, file := range map[string]string{
		"it is no outcome of linerate compare": `{"schema_version":9}`,
		"the outcome is refused":               "# Approved",
		"more than 2097152 bytes":              strings.Repeat(" ", 3<<20),
		"its text has more than 60000 bytes":   strings.ReplaceAll(figures, `["NAME"]`, `["`+strings.Repeat("much ", 20_000)+`"]`),
	} {
		s.wrote, s.archive = nil, zipped(t, "linerate.json", file)
		if _, err := post(t, s); err == nil || !strings.Contains(err.Error(), want) || len(s.wrote) > 0 {
			t.Errorf("%v, wrote %d, want %q", err, len(s.wrote), want)
		}
	}
}
