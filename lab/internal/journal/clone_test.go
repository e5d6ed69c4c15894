package journal

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const repository = "../../.."

// template is what clones are made of.
var template string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "journal")
	if err == nil {
		template = dir
		err = fill(dir)
	}
	code := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		code = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

// fill copies what the journal reads, and what is derived from it, so that a
// test can break it. Of the runs it takes those that texts lean on and one that
// was measured: each is derived anew by every test, and machines' runs only grow
// in number. TestTheRepositoryIsInOrder reads them all, and lab check derives them.
func fill(root string) error {
	for _, dir := range []string{"lab/experiments", "data", "static/schema"} {
		err := eachFile(filepath.Join(repository, dir), filepath.Join(root, dir), func(p, to string) error {
			run := strings.TrimSuffix(filepath.Base(p), filepath.Ext(p))
			if ofAProfile.MatchString(filepath.ToSlash(p)) {
				run = filepath.Base(filepath.Dir(p))
			}
			if strings.Contains(filepath.ToSlash(p), "/data/designs/") && run != measuredDesign || ofARun.MatchString(filepath.ToSlash(p)) && !strings.HasPrefix(run, "published-") && run != measured {
				return nil
			}
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
				return err
			}
			return os.WriteFile(to, data, 0o644)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// clone links the template's files, which are never written in place: the
// journal replaces whole files, and so does write.
func clone(t *testing.T) Root {
	t.Helper()
	root := t.TempDir()
	if err := eachFile(template, root, func(p, to string) error {
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		return os.Link(p, to)
	}); err != nil {
		t.Fatal(err)
	}
	return Root(root)
}

// eachFile calls do with each file below a directory, and its place below another.
func eachFile(from, to string, do func(p, to string) error) error {
	return filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return do(p, filepath.Join(to, strings.TrimPrefix(p, from)))
	})
}

var (
	ofARun     = regexp.MustCompile(`/data/(results|verdicts|csv|profiles|flames)/`)
	ofAProfile = regexp.MustCompile(`/data/(profiles|flames)/`)
)

func open(t *testing.T, root Root) *Journal {
	t.Helper()
	j, faults, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range faults {
		t.Fatalf("%s: %v", f.Path, f.Err)
	}
	return j
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(path) // another clone may have the same file
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func edit(t *testing.T, path, old, new string) {
	t.Helper()
	text := read(t, path)
	if !strings.Contains(text, old) {
		t.Fatalf("%q does not stand in %s", old, path)
	}
	write(t, path, strings.Replace(text, old, new, 1))
}

// The run and the host that the tests below break.
const (
	threads = "data/results/11-threads/published-2026-06-11-c6in-8xlarge.json"
	c6in    = "data/hosts/c6in-8xlarge.json"

	// A run of 11-threads that no text leans on.
	measured = "20261121t133317z-intel-xeon-processor-2c-ca1b5bc8"

	// The design that it was made with; another budget than today's.
	measuredDesign = "3ee3b62a83a838d92ca27ce7171668f451edb7d0ccb358c55b2abf40325a89a6"
)
