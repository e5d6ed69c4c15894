package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// site is a workshop with a small site: an entry, a draft, and Hugo.
func site(t *testing.T) *workshop {
	t.Helper()
	hugo, err := filepath.Abs("../../../.tools/bin/hugo")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(hugo); err != nil {
		t.Skip("no .tools/bin/hugo: make build installs it")
	}
	w := newWorkshop(t)
	w.write(w.root.Path("config.toml"), "baseURL = \"https://example.org/journal/\"\ndisableKinds = [\"taxonomy\", "+
		"\"term\", \"rss\"]\n")
	w.write(w.root.Path("layouts", "page.html"),
		"<!DOCTYPE html><html lang=\"en\"><head><link href=\"{{ \"a.css\" | relURL }}\" integrity=\"sha256-x\"><title>{{ "+
			".Title }}</title></head><body>{{ .Content }}</body></html>\n")
	w.write(w.root.Path("layouts", "_shortcodes", "wrong.html"), "{{ errorf \"the shortcode is wrong\" }}")
	w.entry("97-an-entry", "The entry.")
	w.entry("98-a-draft", "The first words.")
	if err := os.MkdirAll(w.root.Path(".tools", "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(hugo, w.root.Path(".tools", "bin", "hugo")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	t.Chdir(string(w.root))
	return w
}

func (w *workshop) entry(name, text string) {
	w.write(w.root.Path("content", "journal", name+".md"), "+++\ntitle = \"An entry\"\ndraft = true\n+++\n"+text+"\n")
}

// leftBehind fails the test if there is anything that was not in the journal before, but
// what is derived, or any temporary file.
func (w *workshop) leftBehind(before []string) {
	w.t.Helper()
	after := slices.DeleteFunc(w.holds(), func(p string) bool { return strings.Contains(p, "/derived/") })
	if len(after) != len(before) {
		w.t.Errorf("the journal had %d files, and has %q", len(before), after)
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		w.t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestADraftIsShownAndShownAgain(t *testing.T) {
	w := site(t)
	before := w.holds()
	said, out := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ended := make(chan int, 1)
	var errs bytes.Buffer
	go func() {
		ended <- command(ctx, []string{"preview", "98"}, out, &errs)
		out.Close()
	}()
	line := make([]byte, 300)
	n, err := said.Read(line)
	if err != nil {
		t.Fatal(err, errs.String())
	}
	url := regexp.MustCompile(`^http://127\.0\.0\.1:[0-9]+/journal/98-a-draft/`).FindString(string(line[:n]))
	page := func() string {
		r, err := http.Get(url)
		if err != nil {
			t.Fatalf("%v after %q", err, line[:n])
		}
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if text := page(); !strings.Contains(text, "The first words.") {
		t.Errorf("%s: %s", url, text)
	}
	w.entry("98-a-draft", "The second words.")
	for deadline := time.Now().Add(time.Minute); !strings.Contains(page(), "The second words."); {
		if time.Now().After(deadline) {
			t.Fatal("a change is not shown")
		}
		time.Sleep(20 * time.Millisecond)
	}
	stop()
	if status := <-ended; status != exitHeld || errs.Len() > 0 {
		t.Errorf("exit %d, %q", status, errs.String())
	}
	if _, err := http.Get(url); err == nil {
		t.Error("it is still served")
	}
	w.leftBehind(before)
}

func TestAPageIsBuilt(t *testing.T) {
	w := site(t)
	before := w.holds()
	status, out, errs := w.call("preview", "97-an-entry", "--build")
	file := w.root.Path(".tools", "scratch", "preview", "journal", "97-an-entry", "index.html")
	text, err := os.ReadFile(file)
	if status != exitHeld || out != file+"\n" || errs != "" || err != nil {
		t.Fatalf("exit %d, %q, %q, %v", status, out, errs, err)
	}
	// It is opened as a file, so links lead to files, and nothing has a digest.
	if !strings.Contains(string(text), "The entry.") || !strings.Contains(string(text), `href="../../a.css"`) ||
		strings.Contains(string(text), "integrity") {
		t.Errorf("%s", text)
	}
	if other, _ := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(file)), "98*")); len(other) > 0 {
		t.Errorf("more than one page was built: %q", other)
	}
	w.leftBehind(before)
}

func TestAChapterIsFoundByEachOfItsNumbers(t *testing.T) {
	w := newWorkshop(t)
	w.write(w.root.Entry("95-a-chapter"), "+++\ntitle = \"A chapter\"\n\n[[also]]\nnumber = \"95b\"\nwas = \"95b-alone\"\n+++\n")
	for _, asked := range []string{"95", "95-a-chapter", "95b", "95b-alone"} {
		if name, err := entryNamed(w.root, asked); name != "95-a-chapter" || err != nil {
			t.Errorf("%s: %q, %v", asked, name, err)
		}
	}
}

func TestPreviewRefusesInOneLine(t *testing.T) {
	w := site(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	w.entry("99-wrong", "{{< wrong >}}")
	w.entry("99-also", "{{< wrong >}}")
	before := w.holds()
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"98-a-darft"}, `no entry "98-a-darft" in content/journal; did you mean "98-a-draft"?`},
		{[]string{"12"}, `no entry "12" in content/journal; there are 97-an-entry, 98-a-draft`},
		{[]string{"99"}, "2 entries are called 99: 99-also, 99-wrong"},
		{[]string{"98", "--port", fmt.Sprint(port)}, fmt.Sprintf("port %d is in use; leave --port out for a free one", port)},
		{[]string{"98", "--port", "70000"}, "--port 70000: use 1 to 65535"},
		{[]string{"99-wrong"}, "hugo: the shortcode is wrong"},
		{[]string{"99-wrong", "--build"}, "hugo: the shortcode is wrong"},
		{nil, "expected"},
	} {
		status, out, errs := w.call(append([]string{"preview"}, c.args...)...)
		if status != exitFailed || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, c.says) {
			t.Errorf("%v: exit %d, %q, %q, want one line with %q", c.args, status, out, errs, c.says)
		}
	}
	if err := os.Remove(w.root.Path(".tools", "bin", "hugo")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", t.TempDir())
	if status, _, errs := w.call("preview", "98"); status != exitFailed ||
		errs != "lab: hugo, which builds the pages, is not installed; run make setup\n" {
		t.Errorf("without hugo: exit %d, %q", status, errs)
	}
	w.leftBehind(before)
}
