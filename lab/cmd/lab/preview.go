package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/line-rate/line-rate/lab/internal/derive"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/leash"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

type previewCall struct {
	Name  string `arg:"" placeholder:"ENTRY" help:"The name of its file in content/journal, or its number."`
	Port  int    `placeholder:"N" help:"Serve on this port (default: a free one)."`
	Build bool   `help:"Build the page into .tools/scratch/preview and print its file, instead of serving it."`
}

// do shows one entry as the site will have it, drafts too. Hugo builds that page alone and
// serves it, on this machine only, and builds it again when a file changes.
func (c *previewCall) do(ctx context.Context, out io.Writer) (int, error) {
	root, err := journal.Find(".")
	if err != nil {
		return exitFailed, err
	}
	name, err := entryNamed(root, c.Name)
	if err != nil {
		return exitFailed, err
	}
	hugo := root.Path(".tools", "bin", "hugo")
	if _, err := os.Stat(hugo); err != nil {
		if hugo, err = exec.LookPath("hugo"); err != nil {
			return exitFailed, errors.New("hugo, which builds the pages, is not installed; run make setup")
		}
	}
	if _, err := derive.Update(root); err != nil {
		return exitFailed, err
	}
	work, err := os.MkdirTemp("", "preview-*")
	if err != nil {
		return exitFailed, err
	}
	defer os.RemoveAll(work)
	segment := filepath.Join(work, "segment.toml")
	if err := os.WriteFile(segment, fmt.Appendf(nil, "[[segments.preview.includes]]\npath = %q\n", "/journal/"+name),
		0o644); err != nil {
		return exitFailed, err
	}
	p := preview{root, hugo, name, []string{
		"--source", string(root), "--config", root.Path("config.toml") + "," + segment, "--renderSegments", "preview",
		"--buildDrafts", "--buildFuture", "--noBuildLock", "--cacheDir", filepath.Join(work, "cache"),
	}, []string{"HOME=" + work, "HUGO_RESOURCEDIR=" + filepath.Join(work, "resources")}}
	if c.Build {
		return p.build(ctx, out)
	}
	return p.serve(ctx, c.Port, out)
}

// entryNamed finds the file of an entry by its name, by what stands before its first hyphen, or, of
// an entry that a chapter tells as well, by its number or its former name.
func entryNamed(root journal.Root, asked string) (string, error) {
	files, err := os.ReadDir(root.Path("content", "journal"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	var names, of []string
	asked = strings.TrimSuffix(filepath.Base(asked), ".md")
	for _, f := range files {
		name, ok := strings.CutSuffix(f.Name(), ".md")
		if !ok || name == "_index" {
			continue
		}
		names = append(names, name)
		if number, _, _ := strings.Cut(name, "-"); number == asked || slices.Contains(alsoTold(root.Entry(name)), asked) {
			of = append(of, name)
		}
	}
	switch {
	case slices.Contains(names, asked):
		return asked, nil
	case len(of) == 1:
		return of[0], nil
	case len(of) > 1:
		return "", fmt.Errorf("%d entries are called %s: %s", len(of), asked, strings.Join(of, ", "))
	}
	return "", fmt.Errorf("no entry %q in content/journal; %s", asked, strict.Instead(asked, names))
}

// alsoTold gives the numbers and former names of the entries under [[also]] in a page's front matter.
func alsoTold(page string) (names []string) {
	text, err := os.ReadFile(page)
	var front struct {
		Also []struct{ Number, Was string } `toml:"also"`
	}
	if err != nil || toml.Unmarshal(strict.FrontMatter(text), &front) != nil {
		return nil
	}
	for _, a := range front.Also {
		names = append(names, a.Number, a.Was)
	}
	return names
}

// A preview is one page, and how Hugo is called for it.
type preview struct {
	root journal.Root
	hugo string
	name string
	args []string
	env  []string
}

// digest is a style sheet's or a script's.
var digest = regexp.MustCompile(` integrity="[^"]*"`)

// build writes the page, with links that work in a file.
func (p preview) build(ctx context.Context, out io.Writer) (int, error) {
	to := filepath.Join(p.root.Scratch(), "preview")
	if err := os.RemoveAll(to); err != nil {
		return exitFailed, err
	}
	said := &complaints{}
	hugo, err := leash.Start(leash.Spec{Dir: string(p.root),
		Argv: append([]string{p.hugo, "--destination", to, "--baseURL", "http://127.0.0.1/"}, p.args...),
		Env:  append(p.env, "HUGO_RELATIVEURLS=true"), Lines: said.hear})
	if err != nil {
		return exitFailed, err
	}
	select {
	case <-ctx.Done():
		return exitFailed, errors.Join(errors.New("stopped by a signal"), hugo.Stop(hugo.Pid(), grace), os.RemoveAll(to))
	case <-hugo.Done():
	}
	page := filepath.Join(to, "journal", p.name, "index.html")
	text, err := os.ReadFile(page)
	if hugo.Err() != nil || err != nil {
		return exitFailed, errors.Join(said.err(), os.RemoveAll(to))
	}
	// A browser checks no digest of a file that came from no server, and drops the file.
	if err := os.WriteFile(page, digest.ReplaceAll(text, nil), 0o644); err != nil {
		return exitFailed, err
	}
	fmt.Fprintln(out, page)
	return exitHeld, nil
}

// grace is how long Hugo has to end, and ready how long to build the page once.
const (
	grace = 3 * time.Second
	ready = 2 * time.Minute
)

// serve runs Hugo's server until a signal ends it.
func (p preview) serve(ctx context.Context, port int, out io.Writer) (int, error) {
	// Hugo picks another port where the one that it is asked for is taken.
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if errors.Is(err, syscall.EADDRINUSE) {
		return exitFailed, fmt.Errorf("port %d is in use; leave --port out for a free one", port)
	} else if err != nil {
		return exitFailed, err
	}
	port = l.Addr().(*net.TCPAddr).Port
	l.Close()
	site := fmt.Sprintf("http://127.0.0.1:%d", port)
	up, said := make(chan struct{}), &complaints{}
	shown := sync.OnceFunc(func() { close(up) })
	hugo, err := leash.Start(leash.Spec{Dir: string(p.root), Env: p.env, Argv: append([]string{
		p.hugo, "server", "--bind", "127.0.0.1", "--port", fmt.Sprint(port), "--baseURL", site + "/", "--appendPort=false",
		"--renderToMemory",
	}, p.args...), Lines: func(line string) {
		said.hear(line)
		if strings.Contains(line, "Web Server is available") {
			shown()
		}
	}})
	if err != nil {
		return exitFailed, err
	}
	select {
	case <-up:
	case <-hugo.Done():
		return exitFailed, said.err()
	case <-time.After(ready):
		return exitFailed, errors.Join(fmt.Errorf("hugo built no page in %v", ready), hugo.Stop(hugo.Pid(), grace))
	case <-ctx.Done():
		return exitHeld, hugo.Stop(hugo.Pid(), grace)
	}
	fmt.Fprintf(out, "%s/journal/%s/ shows %s, again after each change; Ctrl-C ends it\n", site, p.name, p.name)
	said.loud.Store(true)
	select {
	case <-ctx.Done():
		return exitHeld, hugo.Stop(hugo.Pid(), grace)
	case <-hugo.Done():
		return exitFailed, said.err()
	}
}
