package results

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// Read reads a results file of a known version and refuses anything else. Errors name
// the line for syntax and duplicate keys, and the place for what is missing.
func Read(path string) (*File, error) { return read[File](path) }

// ReadHost reads a host profile by the same rules.
func ReadHost(path string) (*host.Profile, error) { return read[host.Profile](path) }

// mostBytes limits the size of files, in bytes: a results file of 180 trials takes 8 MB
// where each trial records 256 cores.
const mostBytes = 8 << 20

func read[T any](path string) (*T, error) {
	data, err := strict.ReadUpTo(path, mostBytes)
	into := new(T)
	if err == nil {
		err = Decode(data, into)
	}
	if named := (*os.PathError)(nil); err != nil && !errors.As(err, &named) {
		err = fmt.Errorf("%s: %w", path, err)
	}
	if err != nil {
		return nil, err
	}
	return into, nil
}

// Decode decodes a results file or a host profile, and refuses one that is incomplete.
func Decode(data []byte, into any) error {
	if len(data) > mostBytes {
		return fmt.Errorf("%d bytes, where such a file has %d at the most", len(data), mostBytes)
	}
	var doc any
	if err := strict.DecodeJSON(data, &doc); err != nil {
		return err
	}
	// The version is checked first: any other complaint about a file of an unknown
	// version would mislead.
	version := Version
	if _, ok := into.(*host.Profile); ok {
		version = host.Version
	}
	if err := isVersion(doc, version); err != nil {
		return err
	}
	if err := checkTexts(doc, ""); err != nil {
		return err
	}
	if err := strict.DecodeJSON(data, into); err != nil {
		return err
	}
	switch v := into.(type) {
	case *File:
		if err := v.incomplete(); err != nil {
			return err
		}
		return v.spread()
	case *host.Profile:
		if !id.MatchString(v.ID) {
			return fmt.Errorf("/id: %q is no name of a file", v.ID)
		}
		if v.Name == "" {
			return errors.New("/name: missing")
		}
		if v.Mark != "" && !mark.MatchString(v.Mark) {
			return errors.New("/mark: no keyed hash; a machine's own id stays on it")
		}
	}
	return nil
}

// checkTexts reports the first string of a document, or key, that is not a single line of printable characters,
// with its place below at.
func checkTexts(v any, at string) error {
	switch v := v.(type) {
	case string:
		if err := strict.CheckLine(v); err != nil {
			return fmt.Errorf("%s: the text %w", at, err)
		}
	case []any:
		for i, e := range v {
			if err := checkTexts(e, at+"/"+strconv.Itoa(i)); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if err := strict.CheckLine(name); err != nil {
				return fmt.Errorf("%s: the name %q %w", at, name, err)
			}
			if err := checkTexts(v[name], at+"/"+name); err != nil {
				return err
			}
		}
	}
	return nil
}

// id is what names files and conditions.
var id = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// mark is the form of a host's mark.
var mark = regexp.MustCompile(`^[0-9a-f]{16}$`)

// incomplete says what a file lacks without which nothing can be read of it, and which of
// its names are none.
func (f *File) incomplete() error {
	for _, of := range []struct{ at, name string }{{"/experiment", f.Experiment}, {"/run", f.Run},
		{"/hosts/server", f.Hosts.Server}, {"/hosts/client", f.Hosts.Client}} {
		if !id.MatchString(of.name) {
			return fmt.Errorf("%s: %q is no name of a file", of.at, of.name)
		}
	}
	p := f.Provenance
	switch {
	case p == nil:
		return errors.New("/provenance: missing")
	case p.Block == nil:
		return errors.New("/provenance/block: missing")
	case !(p.Block.SlotS > 0) || p.Block.Rounds < 1:
		return fmt.Errorf("/provenance/block: %d slots of %v s", p.Block.Rounds, p.Block.SlotS)
	case !(p.BudgetS > 0):
		return errors.New("/provenance/budget_s: missing")
	case !slices.Contains([]Ended{"", Decided, Budget, Blocks, Interrupted, Failing}, p.Ended):
		return fmt.Errorf("/provenance/ended: %q is no end of a run", p.Ended)
	case p.Blocks < 0:
		return fmt.Errorf("/provenance/blocks: %d", p.Blocks)
	}
	for i, c := range f.Conditions {
		if !id.MatchString(c.ID) {
			return fmt.Errorf("/conditions/%d/id: %q is no id", i, c.ID)
		}
	}
	if err := cmp.Or(unknown("/figures", f.Figures), unknown("/resolutions", f.Resolutions)); err != nil {
		return err
	}
	for i, t := range f.Trials {
		at := fmt.Sprintf("/trials/%d", i)
		if err := cmp.Or(unknown(at+"/metrics", t.Metrics), unknown(at+"/below", t.Below),
			unknown(at+"/resolution", t.Resolution)); err != nil {
			return err
		}
		if t.Block < 0 {
			return fmt.Errorf("%s/block: %d", at, t.Block)
		}
		for k, r := range t.Reasons {
			if r.Gate == "" {
				return fmt.Errorf("%s/reasons/%d/gate: missing", at, k)
			}
		}
	}
	return nil
}

// unknown reports a name that is of no metric: no page would show it, and no claim could
// rest on it.
func unknown[V any](at string, figures map[string]V) error {
	for _, name := range slices.Sorted(maps.Keys(figures)) {
		if _, ok := metric.Lookup(name); !ok {
			return fmt.Errorf("%s: no metric %q", at, name)
		}
	}
	return nil
}

// isVersion refuses a document of another version.
func isVersion(doc any, known int) error {
	obj, ok := doc.(map[string]any)
	if !ok {
		return errors.New("not a JSON object")
	}
	v, ok := obj["schema_version"]
	if !ok {
		return errors.New("/schema_version: missing")
	}
	if v == float64(known) {
		return nil
	}
	if text, ok := v.(string); ok {
		v = strconv.Quote(text)
	}
	return fmt.Errorf("/schema_version: version %v is not known to this lab, which reads version %d; use the lab that "+
		"wrote the file", v, known)
}

// WriteNew writes a file that must not exist yet. The name never shows an
// incomplete file: the text is written beside scratch, which lies outside data/
// on the same file system, and then linked into place. Linking fails if the
// name exists.
func WriteNew(scratch, path string, data []byte) error {
	tmp, err := stage(scratch, path, data)
	if err != nil {
		return err
	}
	defer os.Remove(tmp)
	if err := os.Link(tmp, path); err != nil {
		if errors.Is(err, os.ErrExist) {
			return fmt.Errorf("%s exists already; results are only ever added", path)
		}
		return err
	}
	giveBack(path)
	return nil
}

// Replace writes a derived file atomically. The file may exist already.
func Replace(scratch, path string, data []byte) error {
	tmp, err := stage(scratch, path, data)
	if err != nil {
		return err
	}
	if err := os.Rename(tmp, path); err != nil {
		os.Remove(tmp)
		return err
	}
	giveBack(path)
	return nil
}

// giveBack makes the user who called sudo the owner of a file and of the
// directories made for it: some experiments need root, and the clone is not
// root's. If this fails, the file is kept all the same.
func giveBack(path string) {
	uid, err := strconv.Atoi(os.Getenv("SUDO_UID"))
	gid, err2 := strconv.Atoi(os.Getenv("SUDO_GID"))
	if err != nil || err2 != nil || os.Geteuid() != 0 {
		return
	}
	// Up to the first directory that the caller owns. If there is none, the clone
	// belongs to root and stays so.
	var made []string
	for p := path; ; p = filepath.Dir(p) {
		var is unix.Stat_t
		switch err := unix.Lstat(p, &is); {
		case err != nil, p == filepath.Dir(p):
			return
		case int(is.Uid) == uid:
			for _, p := range made {
				_ = os.Lchown(p, uid, gid)
			}
			return
		case is.Uid != 0:
			return
		}
		made = append(made, p)
	}
}

func stage(scratch, path string, data []byte) (string, error) {
	for _, dir := range []string{scratch, filepath.Dir(path)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return "", err
		}
	}
	tmp, err := os.CreateTemp(scratch, "staged-*")
	if err != nil {
		return "", err
	}
	_, err = tmp.Write(data)
	err = errors.Join(err, tmp.Chmod(0o644), tmp.Sync(), tmp.Close())
	if err != nil {
		os.Remove(tmp.Name())
		return "", err
	}
	return tmp.Name(), nil
}
