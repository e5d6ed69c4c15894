package archive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// grows has the directories whose files are only ever added.
var grows = []string{"data/results", "data/profiles", "data/hosts", "data/designs", "data/calibration", "data/certificates"}

const (
	experiments = "lab/experiments"
	texts       = "data/texts"
	entries     = "content/journal"
)

// A change compares a checkout's files with those of a commit.
type change struct {
	history
	base   string            // the commit, short
	files  map[string]string // objects of the commit, by path
	faults []Fault
}

// Against reports what a change did that no change may do, since it left the
// history of a git revision:
//
//   - results, raw profiles, hosts and designs are only ever added, but a host
//     may be declared the same machine as another;
//   - a claim of an experiment with trials keeps its
//     bars, or is withdrawn by name with a reason, and stays withdrawn; it keeps
//     its text, or the former one is listed as corrected;
//   - a figure that a text printed stays, unless an entry corrects that text.
//
// Other wording, budgets, new claims and new files are free. It reads the files as
// they are, committed or not, and is independent of Open, which would report
// what follows from such a change.
func Against(root journal.Root, base string) ([]Fault, error) {
	h, err := openHistory(root)
	if err != nil {
		return nil, fmt.Errorf("cannot compare with %s: %w", base, err)
	}
	left, err := h.left(base)
	if err != nil {
		return nil, err
	}
	c := &change{history: h, base: left[:min(12, len(left))]}
	if c.files, err = h.files(left, append([]string{experiments, texts, entries, examples}, grows...)...); err != nil {
		return nil, err
	}
	for _, p := range sorted(c.files, "") {
		same, err := c.same(p)
		if err != nil {
			return nil, err
		}
		if same {
			continue
		}
		switch dir, _, _ := strings.Cut(strings.TrimPrefix(p, "data/"), "/"); {
		case slices.ContainsFunc(grows, func(g string) bool { return strings.HasPrefix(p, g+"/") }):
			err = c.kept(p, dir)
		case path.Dir(p) == experiments && path.Ext(p) == ".toml":
			err = c.experiment(p)
		case path.Dir(p) == texts && path.Ext(p) == ".toml":
			err = c.text(p)
		case path.Dir(p) == examples:
			err = c.example(p)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
	}
	return c.faults, nil
}

// sorted lists the paths that begin so.
func sorted(files map[string]string, prefix string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(files)), func(p string) bool { return !strings.HasPrefix(p, prefix) })
}

func (c *change) fault(p, format string, args ...any) {
	c.faults = append(c.faults, Fault{filepath.FromSlash(p), fmt.Errorf(format, args...)})
}

// same tells whether a file is as it was.
func (c *change) same(p string) (bool, error) {
	file := c.root.Path(filepath.FromSlash(p))
	info, err := os.Lstat(file)
	if gone(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return host.HasID(file, fs.FileInfoToDirEntry(info), c.files[p])
}

// gone tells whether there is no file of that name. A directory above it may have
// become a file.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || err != nil && strings.HasSuffix(err.Error(), "not a directory")
}

// now reads a file as it is now; nil if it is gone. It must be a regular file.
func (c *change) now(p string) (data []byte, link bool, err error) {
	file := c.root.Path(filepath.FromSlash(p))
	info, err := os.Lstat(file)
	switch {
	case gone(err):
		return nil, false, nil
	case err != nil:
		return nil, false, err
	case !info.Mode().IsRegular():
		return nil, true, nil
	case info.Size() > mostBlob:
		return nil, false, fmt.Errorf("%d bytes, which no file of the journal has", info.Size())
	}
	data, err = os.ReadFile(file)
	return data, false, err
}

// kept reports a file that may not change.
func (c *change) kept(p, kind string) error {
	mend := fmt.Sprintf("%s are only ever added: git checkout %s -- %s", kind, c.base, p)
	now, link, err := c.now(p)
	if err != nil {
		return err
	}
	was, err := c.one(c.files[p])
	switch {
	case err != nil:
		return err
	case link:
		c.fault(p, "no regular file now; %s", mend)
	case now == nil:
		c.fault(p, "deleted; %s", mend)
	case bytes.Equal(bytes.ReplaceAll(now, []byte("\r\n"), []byte("\n")), was):
		c.fault(p, "its lines end with CRLF now; %s", mend)
	default:
		c.fault(p, "%s; %s", differ(was, now), mend)
	}
	return nil
}

// differ names the first place where two versions of a file differ: a field of
// JSON, otherwise a line.
func differ(was, now []byte) string {
	var a, b any
	if json.Unmarshal(was, &a) == nil && json.Unmarshal(now, &b) == nil {
		if at := field("", a, b); at != "" {
			return at
		}
		return "written otherwise, with the same figures"
	}
	if !bytes.Contains(was, []byte{0}) {
		then, lines := bytes.Split(was, []byte("\n")), bytes.Split(now, []byte("\n"))
		for i := range min(len(then), len(lines)) {
			if !bytes.Equal(then[i], lines[i]) {
				return fmt.Sprintf("line %d was changed", i+1)
			}
		}
		return fmt.Sprintf("%d lines, not %d", len(lines), len(then))
	}
	return fmt.Sprintf("changed: %d bytes, before %d", len(now), len(was))
}

// field finds the first field in which two documents differ.
func field(at string, was, now any) string {
	switch a := was.(type) {
	case map[string]any:
		b, ok := now.(map[string]any)
		if !ok {
			break
		}
		names := maps.Clone(a)
		maps.Copy(names, b)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			x, had := a[name]
			y, has := b[name]
			switch {
			case !has:
				return at + "/" + name + ": removed"
			case !had:
				return at + "/" + name + ": added"
			}
			if found := field(at+"/"+name, x, y); found != "" {
				return found
			}
		}
		return ""
	case []any:
		b, ok := now.([]any)
		if !ok {
			break
		}
		for i := range min(len(a), len(b)) {
			if found := field(fmt.Sprintf("%s/%d", at, i), a[i], b[i]); found != "" {
				return found
			}
		}
		if len(a) != len(b) {
			return fmt.Sprintf("%s: %d items, before %d", at, len(b), len(a))
		}
		return ""
	default:
		if was == now {
			return ""
		}
	}
	return fmt.Sprintf("%s: %s, before %s", at, short(now), short(was))
}

// short prints a value, or what of it fits a line.
func short(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	if len(text) > 60 {
		return strings.ToValidUTF8(string(text[:60]), "") + "…"
	}
	return string(text)
}

// thenAndNow reads a file as the commit has it and as it is now. What cannot be read, or
// is gone, is reported; ok is false then. mend ends the line for a file that is gone.
func thenAndNow[T any](c *change, p, mend string, parse func(name string, text []byte) (T, error)) (was, now T, ok bool,
	err error) {
	name := strings.TrimSuffix(path.Base(p), ".toml")
	text, err := c.one(c.files[p])
	if err != nil {
		return was, now, false, err
	}
	if was, err = parse(name, text); err != nil {
		c.fault(p, "this lab cannot read it as %s has it, so nothing says what changed: %v", c.base, err)
		return was, now, false, nil
	}
	data, link, err := c.now(p)
	if err != nil {
		return was, now, false, err
	}
	if link || data == nil {
		c.fault(p, "deleted, but %s: git checkout %s -- %s", mend, c.base, p)
		return was, now, false, nil
	}
	if now, err = parse(name, data); err != nil {
		c.fault(p, "%v", err)
		return was, now, false, nil
	}
	return was, now, true, nil
}

// experiment reports claims that were edited or dropped after trials.
func (c *change) experiment(p string) error {
	name := strings.TrimSuffix(path.Base(p), ".toml")
	if ran, err := c.ran(name); err != nil || !ran {
		return err
	}
	was, now, ok, err := thenAndNow(c, p, "runs were made with it; withdraw its claims instead", experiment.Parse)
	if err != nil || !ok {
		return err
	}
	withdrawn := func(x *experiment.Experiment, id string) bool {
		return slices.ContainsFunc(x.Withdrawn, func(w experiment.Withdrawal) bool { return w.ID == id })
	}
	for _, claim := range was.Claims {
		if moved := now.Moved(was, claim); moved != "" && !withdrawn(now, claim.ID) {
			c.fault(p, "claim %q: %s; a claim of an experiment that has runs stays as it is: give the changed one a new id, "+
				"and name %q under [[withdrawn]] with the reason", claim.ID, moved, claim.ID)
			continue
		}
		mine, stands := now.Claim(claim.ID)
		if stands && mine.Text != claim.Text && reworded(now, claim) == reworded(was, claim) {
			c.fault(p, "claim %q: text %q, before %q; runs were judged by the words: list the former text under "+
				"[[corrected]] with id, was and why, or give the changed claim a new id",
				claim.ID, strict.Line(mine.Text, longestText), strict.Line(claim.Text, longestText))
		}
	}
	for _, k := range was.Corrected {
		if !slices.ContainsFunc(now.Corrected, func(l experiment.Correction) bool { return l.ID == k.ID && l.Was == k.Was }) {
			c.fault(p, "claim %q: a correction of its text is no longer under [[corrected]]; put it back", k.ID)
		}
	}
	for _, w := range was.Withdrawn {
		if !withdrawn(now, w.ID) {
			c.fault(p, "claim %q is no longer under [[withdrawn]]; put it back, since its runs stay", w.ID)
		}
	}
	return nil
}

// longestText is how much of a claim's text a message shows, in characters.
const longestText = 90

// reworded counts how often a claim's text is listed as one that was corrected.
// An old correction of the same text allows no further change.
func reworded(x *experiment.Experiment, c experiment.Claim) int {
	return strict.Count(x.Corrections(c.ID), func(k experiment.Correction) bool { return k.Was == c.Text })
}

// ran tells whether the experiment had trials. A run that
// could not be made has none, and no claim could be read off it.
func (c *change) ran(name string) (found bool, err error) {
	for _, p := range sorted(c.files, "data/results/"+name+"/") {
		data, err := c.one(c.files[p])
		if err != nil {
			return false, err
		}
		var f struct {
			NotApplicable string `json:"not_applicable"`
		}
		if err := json.Unmarshal(data, &f); err != nil || f.NotApplicable == "" {
			return true, nil
		}
	}
	return false, nil
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
