package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	validator "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/sys/unix"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// Read reads a results file of a known version and refuses anything else.
// Errors name the line for syntax and duplicate keys, and the JSON pointer for
// shape.
func Read(path string) (*File, error) { return read[File](path, SchemaURL) }

// ReadHost reads a host profile by the same rules.
func ReadHost(path string) (*host.Profile, error) { return read[host.Profile](path, HostSchemaURL) }

// mostBytes limits the size of files, in bytes. A results file of 180 trials
// takes 8 MB where each trial records 256 cores; with two cores it stays below
// Longest. A host profile is a few lines.
var mostBytes = map[string]int64{SchemaURL: 8 << 20, HostSchemaURL: 16 << 10}

func read[T any](path, schema string) (*T, error) {
	data, err := strict.ReadUpTo(path, mostBytes[schema])
	into := new(T)
	if err == nil {
		err = Decode(data, schema, into)
	}
	if named := (*os.PathError)(nil); err != nil && !errors.As(err, &named) {
		err = fmt.Errorf("%s: %w", path, err)
	}
	if err != nil {
		return nil, err
	}
	return into, nil
}

// Decode checks a document against a schema, SchemaURL or HostSchemaURL, and decodes it.
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
	// The version is checked first: any other complaint about a file of an unknown
	// version would mislead.
	if err := isVersion(doc, versions[schema]); err != nil {
		return err
	}
	if err := strict.CheckTexts(doc, ""); err != nil {
		return err
	}
	if err := compiled()[schema].Validate(doc); err != nil {
		return deepest(err, doc)
	}
	if err := json.Unmarshal(data, into); err != nil {
		return strict.Mistyped(err, data)
	}
	if f, ok := into.(*File); ok {
		return f.spread()
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

// deepest reduces the validator's tree of errors to the first innermost one.
func deepest(err error, doc any) error {
	var v *validator.ValidationError
	if !errors.As(err, &v) {
		return err
	}
	for len(v.Causes) > 0 {
		// The errors below this one never give the name, and the place in this one is
		// overwritten by the validator.
		if k, ok := v.ErrorKind.(*kind.PropertyNames); ok {
			return fmt.Errorf("%s: no metric %q", named(doc, "", k.Property), k.Property)
		}
		v = v.Causes[0]
	}
	return fmt.Errorf("/%s: %s", strings.Join(v.InstanceLocation, "/"),
		v.ErrorKind.LocalizedString(message.NewPrinter(language.English)))
}

// named gives the pointer to the first object of figures that has the name.
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
