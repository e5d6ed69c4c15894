package archive

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A Past is the journal as a git commit has it, read by today's rules.
type Past struct {
	*Journal
	Commit string  // the commit, short
	Faults []Fault // data files that today's rules refuse; their runs are not in the journal
	// Changed and Gone are the files of results, hosts, profiles and designs that the
	// checkout has otherwise, or no longer has.
	Changed, Gone []string
	// Recoded reports whether the lab's sources differ; those of the commit are in lab then.
	Recoded bool
}

// kept has what a past journal is read from.
var kept = []string{"lab/experiments", "data/results", "data/hosts", "data/designs", "data/profiles", "data/texts"}

// Since reads the journal at the commit where this checkout left the history of a git
// revision, and gives it to use. The files lie in a temporary directory meanwhile; the
// checkout is not touched.
func Since(root journal.Root, revision string, use func(*Past) error) (err error) {
	h, err := openHistory(root)
	if err != nil {
		return fmt.Errorf("cannot compare with %s: %w", revision, err)
	}
	commit, err := h.left(revision)
	if err != nil {
		return err
	}
	p := &Past{Commit: commit[:min(12, len(commit))]}
	dir, err := os.MkdirTemp("", "lab-past-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := p.unpack(h, commit, journal.Root(dir)); err != nil {
		return err
	}
	if p.Journal, p.Faults, err = Open(journal.Root(dir)); err != nil {
		says := strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), "")
		return fmt.Errorf("this lab cannot read the journal as %s has it: %s", p.Commit, says)
	}
	return use(p)
}

// left is the commit at which HEAD left the history of a revision: what the revision
// got since then is not of this checkout's making.
func (h history) left(revision string) (string, error) {
	tip, err := h.commit(revision)
	if err != nil {
		return "", fmt.Errorf("git has no revision %q; name a branch, a tag or a commit", revision)
	}
	at, err := h.line("merge-base", tip, "HEAD")
	if err != nil {
		return "", fmt.Errorf("this checkout and %s have no commit in common", revision)
	}
	return at, nil
}

// unpack writes the commit's files below a directory.
func (p *Past) unpack(h history, commit string, to journal.Root) error {
	sums := past{history: h, sums: map[string][sha256.Size]byte{}}
	was, err := sums.sourcesAt(commit)
	if err != nil {
		return err
	}
	is, err := host.Sources(string(h.root))
	if err != nil {
		return err
	}
	below := kept
	if p.Recoded = was != "" && was != is; p.Recoded {
		below = append([]string{"lab"}, kept[1:]...)
	}
	files, err := h.files(commit, below...)
	if err != nil {
		return err
	}
	// A journal without an experiment is still one.
	if err := os.MkdirAll(to.Experiments(), 0o755); err != nil {
		return err
	}
	paths := sorted(files, "")
	if i := slices.IndexFunc(paths, func(path string) bool { return !filepath.IsLocal(filepath.FromSlash(path)) }); i >= 0 {
		return fmt.Errorf("%s has a file %q", p.Commit, paths[i])
	}
	objects, at := strict.Called(paths, func(path string) string { return files[path] }), 0
	return h.read(objects, func(_ string, data []byte) error {
		path := paths[at]
		name := filepath.FromSlash(path)
		at++
		if err := os.MkdirAll(filepath.Dir(to.Path(name)), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to.Path(name), data, 0o600); err != nil {
			return err
		}
		if !slices.ContainsFunc(kept[1:5], func(dir string) bool { return strings.HasPrefix(path, dir+"/") }) {
			return nil
		}
		switch now, err := os.ReadFile(h.root.Path(name)); {
		case errors.Is(err, os.ErrNotExist):
			p.Gone = append(p.Gone, path)
		case err != nil || !bytes.Equal(now, data):
			p.Changed = append(p.Changed, path)
		}
		return nil
	})
}
