package fleet

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// A Kept is a file that a run has added to the checkout of the server's host.
type Kept struct {
	Path   string `json:"path"` // from the root, with slashes
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}

// Limits of what is collected: a run has one results file and a few others.
const (
	mostFiles     = 100_000
	mostFileBytes = 32 << 20 // which fits into a frame
)

// collected has the paths that a run may add. Nothing else is written because
// another host says so.
var collected = regexp.MustCompile(`^data/(results|hosts|designs|profiles)(/[A-Za-z0-9_][A-Za-z0-9._-]*){1,4}$`)

func (k Kept) check() error {
	if !collected.MatchString(k.Path) || path.Clean(k.Path) != k.Path {
		return fmt.Errorf("%q is no file that a run adds", said(k.Path))
	}
	if !digest.MatchString(k.SHA256) || k.Bytes < 0 || k.Bytes > mostFileBytes {
		return fmt.Errorf("%s: no usable digest or size", k.Path)
	}
	return nil
}

// KeptAt describes files of a root, given by their paths, in the same order.
func KeptAt(root journal.Root, paths []string) ([]Kept, error) {
	var all []Kept
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			return nil, err
		}
		rel, err := filepath.Rel(string(root), p)
		if err != nil {
			return nil, err
		}
		k := Kept{filepath.ToSlash(rel), sumOf(text), int64(len(text))}
		if err := k.check(); err != nil {
			return nil, err
		}
		all = append(all, k)
	}
	return all, nil
}

// An offer is files that the other end may fetch.
type offer struct {
	root  journal.Root
	files []Kept
}

// give answers a question for one file of the offer.
func (o offer) give(f frame) (frame, error) {
	if !slices.ContainsFunc(o.files, func(k Kept) bool { return k.Path == f.Path }) {
		return frame{}, fmt.Errorf("%q was not offered", said(f.Path))
	}
	text, err := os.ReadFile(o.root.Path(filepath.FromSlash(f.Path)))
	if err != nil {
		text = nil // the digest will tell
	}
	return frame{Kind: kindData, ID: f.ID, Path: f.Path, Data: text}, nil
}

// A collector writes what the server's host has kept into the checkout of the host
// that started the run.
type collector struct {
	root journal.Root
	conn *conn // to the server's host
	// check refuses a file by its path from the root; nil: none.
	check func(path string, text []byte) error

	added []string // paths from the root, without those of runs for trial
}

// collect fetches what is not there yet, checks it and writes it. What cannot be
// written stays on the server's host.
func (c *collector) collect(kept frame) error {
	root := c.root
	if kept.Tried {
		root = c.root.Tried()
	}
	var err error
	for _, k := range kept.Files {
		if err = c.one(root, k); err != nil {
			break
		}
	}
	answer := frame{Kind: kindTaken, ID: kept.ID}
	if err != nil {
		answer.Text = "not collected"
	}
	c.conn.send(answer)
	return err
}

func (c *collector) one(root journal.Root, k Kept) error {
	at := root.Path(filepath.FromSlash(k.Path))
	switch there, err := os.ReadFile(at); {
	case err == nil && sumOf(there) == k.SHA256:
		return nil
	case err == nil && !strings.HasPrefix(root.Rel(at), "data"):
		// Of a run for trial only the newest is kept.
	case err == nil && strings.HasPrefix(k.Path, "data/hosts/"):
		return nil // the journal's own, in which a person may have written a name; package check compares
	case err == nil:
		return fmt.Errorf("%s differs from the one on the server's host; neither was changed. Move one of them away",
			c.root.Rel(at))
	case !errors.Is(err, fs.ErrNotExist):
		return c.unwritable(at, err)
	}
	text, err := c.fetch(k)
	if err != nil {
		return err
	}
	if c.check != nil {
		if err := c.check(k.Path, text); err != nil {
			return fmt.Errorf("%s: %w", k.Path, err)
		}
	}
	write := results.WriteNew
	if root != c.root {
		write = results.Replace
	}
	if err := write(c.root.Scratch(), at, text); err != nil {
		return c.unwritable(at, err)
	}
	if root == c.root {
		c.added = append(c.added, k.Path)
	}
	return nil
}

// unwritable says what the disk has against a file.
func (c *collector) unwritable(at string, err error) error {
	if why := syscall.Errno(0); errors.As(err, &why) {
		return results.Unwritable(c.root.Rel(filepath.Dir(at)), why)
	}
	return err
}

// fetchWithin bounds the wait for one file.
const fetchWithin = 30 * time.Second

func (c *collector) fetch(k Kept) ([]byte, error) {
	a, err := c.conn.ask(context.Background(), frame{Kind: kindFetch, Path: k.Path}, kindData, fetchWithin)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", k.Path, err)
	case a.Path != k.Path || int64(len(a.Data)) > k.Bytes:
		return nil, fmt.Errorf("%s: another file came than the one that was asked for", k.Path)
	case sumOf(a.Data) != k.SHA256:
		return nil, fmt.Errorf("%s: what came is not the file that the server's host has: its digest differs", k.Path)
	}
	return a.Data, nil
}

func sumOf(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text)) }
