package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	validator "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// Read reads a results file, refusing whatever is not one of a known version:
// by line for syntax and duplicate keys, by JSON pointer for shape.
func Read(path string) (*File, error) {
	f := &File{}
	if err := read(path, SchemaURL, f); err != nil {
		return nil, err
	}
	return f, nil
}

// ReadHost reads a host profile by the same rules.
func ReadHost(path string) (*host.Profile, error) {
	p := &host.Profile{}
	if err := read(path, HostSchemaURL, p); err != nil {
		return nil, err
	}
	return p, nil
}

// What files may have at the most, in bytes. A results file of 180 trials has 8 MB
// where each trial says what 256 cores did; on two cores it stays below Longest. A
// host is a few lines.
var mostBytes = map[string]int64{SchemaURL: 8 << 20, HostSchemaURL: 16 << 10}

func read(path, schema string, into any) error {
	data, err := ReadUpTo(path, mostBytes[schema])
	if err == nil {
		err = Decode(data, schema, into)
	}
	if named := (*os.PathError)(nil); err == nil || errors.As(err, &named) {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}

// ReadUpTo reads a file, and refuses one of more than so many bytes before it
// has read them: whatever is in it, it was not made by the lab.
func ReadUpTo(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("more than %d bytes, which no such file has", most)
	}
	return data, err
}

// Decode checks a document and decodes it: a results file by SchemaURL, of
// whichever known version it is, or a host profile by HostSchemaURL.
func Decode(data []byte, schema string, into any) error {
	if n := int64(len(data)); n > mostBytes[schema] {
		return fmt.Errorf("%d bytes, where such a file has %d at the most", n, mostBytes[schema])
	}
	if err := strict.CheckJSON(data); err != nil {
		return err
	}
	var doc any
	if err := json.Unmarshal(data, &doc); err != nil {
		return err
	}
	// The version comes first: every other complaint about a file of another
	// version would mislead.
	shape, err := version(doc, versions[schema])
	if err != nil {
		return err
	}
	if err := texts(doc, ""); err != nil {
		return err
	}
	if err := compiled()[shape].Validate(doc); err != nil {
		return deepest(err, doc)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if f, ok := into.(*File); ok {
		return f.spread()
	}
	return nil
}

// texts finds the first text, or name, that is not one line of what can be seen.
func texts(v any, at string) error {
	switch v := v.(type) {
	case string:
		if err := strict.CheckLine(v); err != nil {
			return fmt.Errorf("%s: the text %w", at, err)
		}
	case []any:
		for i, e := range v {
			if err := texts(e, at+"/"+strconv.Itoa(i)); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if err := strict.CheckLine(name); err != nil {
				return fmt.Errorf("%s: the name %q %w", at, name, err)
			}
			if err := texts(v[name], at+"/"+name); err != nil {
				return err
			}
		}
	}
	return nil
}

// version gives the schema of a document's version, of those that are known.
func version(doc any, known map[int]string) (string, error) {
	obj, ok := doc.(map[string]any)
	if !ok {
		return "", errors.New("not a JSON object")
	}
	v, ok := obj["schema_version"]
	if !ok {
		return "", errors.New("/schema_version: missing")
	}
	var numbers []string
	for _, n := range slices.Sorted(maps.Keys(known)) {
		if v == float64(n) {
			return known[n], nil
		}
		numbers = append(numbers, strconv.Itoa(n))
	}
	return "", fmt.Errorf("/schema_version: version %v is not known to this lab, which reads version %s; use the lab that wrote the file", v, strings.Join(numbers, " and "))
}

// deepest turns the validator's tree into its first innermost complaint.
func deepest(err error, doc any) error {
	var v *validator.ValidationError
	if !errors.As(err, &v) {
		return err
	}
	for len(v.Causes) > 0 {
		// Below this one the name is never said; and the place it gives is one
		// that the validator has written over since.
		if k, ok := v.ErrorKind.(*kind.PropertyNames); ok {
			return fmt.Errorf("%s: no metric %q", named(doc, "", k.Property), k.Property)
		}
		v = v.Causes[0]
	}
	return fmt.Errorf("/%s: %s", strings.Join(v.InstanceLocation, "/"), v.ErrorKind.LocalizedString(message.NewPrinter(language.English)))
}

// named finds the first object of figures that has the name, by pointer.
func named(v any, at, name string) string {
	switch v := v.(type) {
	case map[string]any:
		if _, ok := v[name]; ok && (strings.Count(at, "/") == 3 || at == "/figures" || at == "/resolutions") {
			return at
		}
		for _, key := range []string{"figures", "resolutions", "trials", "metrics", "below", "printed", "resolution"} {
			if found := named(v[key], at+"/"+key, name); found != "" {
				return found
			}
		}
	case []any:
		for i, e := range v {
			if found := named(e, fmt.Sprintf("%s/%d", at, i), name); found != "" {
				return found
			}
		}
	}
	return ""
}

// WriteNew writes a file that must not exist yet. The text is complete before
// the name appears: it is written beside scratch, a directory outside data/ on
// the same file system, and linked into place, which fails rather than replaces.
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

// Replace writes a derived file, which may exist already, in one step.
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

// giveBack gives what root wrote under sudo, and the directories made for it, to
// whoever called sudo: some experiments need root, and the clone is not root's.
// Where it cannot, the file is written all the same.
func giveBack(path string) {
	uid, err := strconv.Atoi(os.Getenv("SUDO_UID"))
	gid, err2 := strconv.Atoi(os.Getenv("SUDO_GID"))
	if err != nil || err2 != nil || os.Geteuid() != 0 {
		return
	}
	// Up to a directory that is the caller's already. Where there is none the
	// clone is root's, and stays so.
	var made []string
	for p := path; ; p = filepath.Dir(p) {
		switch owner, ok := ownerOf(p); {
		case !ok, p == filepath.Dir(p):
			return
		case owner == uid:
			for _, p := range made {
				_ = os.Lchown(p, uid, gid)
			}
			return
		case owner != 0:
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
