package results

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// Read reads a results file of a known version and refuses anything else. Errors name the line for syntax and
// duplicate keys, and the place for what is missing.
func Read(path string) (*File, error) { return read[File](path) }

// ReadHost reads a host profile by the same rules.
func ReadHost(path string) (*host.Profile, error) { return read[host.Profile](path) }

// mostBytes limits the size of files, in bytes: a results file of 180 trials takes 8 MB where each trial records
// 256 cores.
const mostBytes = 8 << 20

func read[T any](path string) (*T, error) {
	data, err := strict.ReadUpTo(path, mostBytes)
	into := new(T)
	if err == nil {
		err = Decode(data, into)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return into, nil
}

// Decode decodes a results file or a host profile, and refuses one that is incomplete.
func Decode(data []byte, into any) error {
	err := strict.DecodeJSON(data, into)
	is, known := 0, Version
	switch v := into.(type) {
	case *File:
		is = v.SchemaVersion
	case *host.Profile:
		is, known = v.SchemaVersion, host.Version
	}
	// The version comes first, because any other complaint about a file of an unknown version would mislead.
	if is != known && (err == nil || is != 0) {
		return fmt.Errorf("/schema_version: version %v is not known to this lab, which reads version %d; use the lab that "+
			"wrote the file", is, known)
	}
	if err != nil {
		return err
	}
	switch v := into.(type) {
	case *File:
		p := v.Provenance
		switch {
		case p == nil || p.Block == nil || !(p.Block.SlotS > 0) || p.Block.Rounds < 1 || p.Block.Rounds > 100:
			return errors.New("/provenance/block: missing, or with a number of slots that no design has")
		case p.Locks == nil:
			return errors.New("/provenance/locks: missing")
		}
		return v.spread()
	case *host.Profile:
		switch {
		case !id.MatchString(v.ID):
			return fmt.Errorf("/id: %q is no name of a file", v.ID)
		case v.Name == "":
			return errors.New("/name: missing")
		}
	}
	return nil
}

var id = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`) // what names a host's files

// Replace writes a file, which may exist already. The name never shows an incomplete file, nor is one left beside
// it: the text is written in scratch, which lies outside data/ on the same file system, and then moved.
func Replace(scratch, path string, data []byte) error {
	staged := filepath.Join(scratch, filepath.Base(path))
	err := cmp.Or(os.MkdirAll(scratch, 0o755), os.MkdirAll(filepath.Dir(path), 0o755), strict.Replace(staged, data))
	if err == nil {
		err = os.Rename(staged, path)
	}
	if err != nil {
		os.Remove(staged)
		return err
	}
	return nil
}

// Room tells whether a run could be kept: whether a file written in scratch can be moved into a directory. It leaves
// none.
func Room(scratch, dir string) error {
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Unwritable(dir, err)
	}
	tried := filepath.Join(dir, ".room")
	err := Replace(scratch, tried, nil)
	os.Remove(tried)
	os.Remove(scratch) // fails where it holds more
	if err != nil {
		return Unwritable(dir, err)
	}
	return nil
}

// Unwritable says in one line that nothing can be written into a directory, why, and what to do about it.
func Unwritable(dir string, err error) error {
	way := "make it writable, or work in a clone of your own"
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		way = "make room there"
	case errors.Is(err, syscall.EXDEV):
		way = "keep data/ and .tools/ on one file system"
	}
	if why, ok := errors.AsType[syscall.Errno](err); ok {
		err = why // the names of the temporary files mean nothing to the reader
	}
	return fmt.Errorf("%s: a run could not be written there (%w); %s", dir, err, way)
}

// PackRaw makes the one archive of a run's raw profiles, which are by their names in the run,
// EXPERIMENT/RUN/cN-KIND.pb.gz. The same profiles give the same bytes.
func PackRaw(raw map[string][]byte) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		w, err := z.CreateHeader(&zip.FileHeader{Name: path.Base(name)}) // stored, as compressed already
		if err == nil {
			_, err = w.Write(raw[name])
		}
		if err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}

// ReadRaw reads a raw profile by its name in a run from the run's archive.
func ReadRaw(archive, name string) ([]byte, error) {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	f, err := z.Open(path.Base(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the archive has no %s", path.Base(name))
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// leastBlocks are in a file in any case; beyond them a run ends where another block would make more than
// mostTrials. The record counts the blocks of further runs too.
const (
	leastBlocks = 12
	mostTrials  = 300
)

// Full tells whether the run has to end for its file's size.
func (f *File) Full() bool {
	return f.Provenance.Blocks >= leastBlocks && len(f.Trials)+len(f.Conditions) > mostTrials
}

// spread gives a file that was read what its text leaves out: figures move from the columns to the trials, and what
// follows from them is added.
func (f *File) spread() error {
	for i := range f.Trials {
		t := &f.Trials[i]
		t.Seq, t.Metrics, t.Resolution = i+1, map[string]float64{}, map[string]float64{}
		if t.AtS > 0 {
			t.StartedAt = f.Provenance.StartedAt.Add(time.Duration(t.AtS * 1e9).Round(time.Microsecond))
		}
		for k := range t.Profiles {
			t.Profiles[k].Unit = t.Profiles[k].Kind.Doc().Unit
		}
	}
	err := cmp.Or(
		f.scatter("figures", f.Figures, func(t Trial) map[string]float64 { return t.Metrics }),
		f.scatter("resolutions", f.Resolutions, func(t Trial) map[string]float64 { return t.Resolution }))
	f.Figures, f.Resolutions = nil, nil
	for i := range f.Trials {
		f.Conclude(&f.Trials[i])
	}
	return err
}

// scatter puts columns into the maps of the trials.
func (f *File) scatter(at string, columns map[string][]*float64, into func(Trial) map[string]float64) error {
	for name, column := range columns {
		if len(column) != len(f.Trials) {
			return fmt.Errorf("/%s/%s: %d entries for %d trials", at, name, len(column), len(f.Trials))
		}
		for i, v := range column {
			if v != nil {
				into(f.Trials[i])[name] = *v
			}
		}
	}
	return nil
}

// gathered is a copy of the file as its text has it: what was counted, in columns.
func (f File) gathered() File {
	f.Trials, f.Figures, f.Resolutions = slices.Clone(f.Trials), map[string][]*float64{}, map[string][]*float64{}
	gather := func(columns map[string][]*float64, i int, figures map[string]float64) {
		for name, v := range figures {
			if columns[name] == nil {
				columns[name] = make([]*float64, len(f.Trials))
			}
			columns[name][i] = &v
		}
	}
	for i := range f.Trials {
		t := &f.Trials[i]
		if !t.StartedAt.IsZero() {
			t.AtS = t.StartedAt.Sub(f.Provenance.StartedAt).Round(time.Microsecond).Seconds()
		}
		following := f.following(t)
		counted := maps.Clone(t.Metrics)
		maps.DeleteFunc(counted, func(name string, _ float64) bool { _, follows := following[name]; return follows })
		gather(f.Figures, i, counted)
		gather(f.Resolutions, i, t.Resolution)
	}
	return f
}

// deep are the line feeds in what lies on the third level or deeper. In indented JSON a text has none.
var deep = regexp.MustCompile(`\n(?: {6,}|    ([\]}]))`)

// Encode gives the bytes of a JSON file of this project: indented, a newline at the end. Of a results file it
// writes what was counted, a line a trial. Equal values give equal bytes.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	f, ok := v.(*File)
	if !ok {
		err := enc.Encode(v)
		return b.Bytes(), err
	}
	err := enc.Encode(f.gathered())
	return deep.ReplaceAll(b.Bytes(), []byte("$1")), err
}

// Sheet is the run as a CSV table, for readers who draw their own charts: a line of names, then a row a trial in
// the order of time. Lines end with a line feed, columns of one kind are sorted by name, and the same run gives the
// same bytes.
//
// A column of figures holds the exact numbers of the results file. A figure that was not measured is an empty cell,
// never 0. A figure known only to be below a value is in the column below_<metric>. Figures are in base SI units,
// named in the metric. A level is in level_<factor>, since a factor may have the name of a metric: the level was
// asked for, the metric was counted. Text that a spreadsheet would take for a formula has an apostrophe before it.
//
// Lists within a trial (cores, threads, profiles) and the run's provenance are left out. Figures taken from a
// profile are among the metrics.
func (f *File) Sheet() ([]byte, error) {
	var rows []map[string]string // cells by their columns
	var errs []error
	levels, figures, limits := map[string]bool{}, map[string]bool{}, map[string]bool{} // the columns of a kind
	for _, t := range f.Trials {
		c := f.condition(t.Condition)
		why := strict.Map(t.Reasons, func(r Reason) string { return r.Gate + ": " + r.Detail })
		row := map[string]string{"seq": strconv.Itoa(t.Seq), "block": strconv.Itoa(t.Block), "condition": t.Condition,
			"control_of": c.ControlOf, "valid": strconv.FormatBool(t.Valid), "reasons": strings.Join(why, "; "),
			"bound": string(t.Bound), "bound_why": t.BoundWhy}
		put := func(kind map[string]bool, name string, v float64) {
			number, err := json.Marshal(v) // as in the JSON: strconv writes small and large numbers otherwise
			kind[name], row[name], errs = true, string(number), append(errs, err)
		}
		for name, l := range c.Levels {
			levels["level_"+name], row["level_"+name] = true, l.String()
		}
		for name, v := range t.Metrics {
			put(figures, name, v)
		}
		for name, v := range t.Below {
			put(limits, "below_"+name, v)
		}
		rows = append(rows, row)
	}
	head := slices.Concat([]string{"seq", "block", "condition", "control_of"}, slices.Sorted(maps.Keys(levels)),
		[]string{"valid", "reasons", "bound", "bound_why"}, slices.Sorted(maps.Keys(figures)),
		slices.Sorted(maps.Keys(limits)))
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	table := [][]string{head}
	for _, row := range rows {
		table = append(table, strict.Cells(strict.Map(head, func(name string) string { return row[name] })))
	}
	err := w.WriteAll(table)
	return b.Bytes(), errors.Join(append(errs, err)...)
}
