package tune

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/procfs"

	"github.com/line-rate/line-rate/lab/internal/strict"
)

// Restore is the command that turns every setting back.
const Restore = "sudo .tools/bin/lab tune restore"

// A Left is a kernel setting that something turned and nothing has restored, with the value that
// it had before that.
type Left struct {
	Knob     string    `json:"knob"` // that turned it
	Path     string    `json:"path"`
	Original string    `json:"original"` // byte for byte
	Since    time.Time `json:"since"`
	// The process that restores it when it ends, and when that started, in ticks since boot: a pid
	// alone may be used again. Without one it was turned by hand.
	PID   int    `json:"pid,omitempty"`
	Start uint64 `json:"start,omitempty"`

	Now string `json:"-"`
}

// By says who turned a setting.
type By string

// A setting is turned by hand and stays until it is restored, or is held by a
// process: one that still runs, or one that has died without restoring it.
const (
	ByHand By = "by hand"
	Held   By = "held"
	Orphan By = "orphan"
)

// By says who turned it. A process that was killed keeps its number until its parent asks for its end,
// which the first process of a container may never do.
func (l Left) By() By {
	if l.PID == 0 {
		return ByHand
	}
	if s := process(l.PID); s.Starttime != l.Start || s.State == "Z" {
		return Orphan
	}
	return Held
}

func process(pid int) (s procfs.ProcStat) {
	if p, err := procfs.NewProc(pid); err == nil {
		s, _ = p.Stat() // without it there is none
	}
	return s
}

// Service tells whether it is a service that was stopped.
func (l Left) Service() bool { return strings.HasPrefix(l.Path, unitPrefix) }

func (l Left) String() string {
	says := fmt.Sprintf("the kernel setting %s is %q and was %q: tune-%s.sh turned it at %s", l.Path,
		plain(l.Now), plain(l.Original), l.Knob, l.Since.Format(time.RFC3339))
	switch l.By() {
	case Held:
		return says + fmt.Sprintf(", and process %d still holds it", l.PID)
	case Orphan:
		return says + ", and the process that was to restore it has died"
	}
	return says + ", by hand"
}

// A state is the file of originals, in the order in which they were saved. Only one with the lock may
// write; one without a directory keeps nothing.
type state struct {
	records []Left
	dir     string
	lock    *os.File
	settled []Left // what open has restored of what killed holds left
	stuck   error  // why it could not restore all of that
}

// stateDir is the directory of the originals, which a boot empties; tests have another.
func stateDir() string { return cmp.Or(os.Getenv("LINE_RATE_STATE"), "/run/line-rate") }

func (s *state) file() string { return filepath.Join(s.dir, "originals.json") }

// open locks the state, and restores what holds that were killed have left.
func open(m *machine) (s *state, err error) {
	s = &state{dir: stateDir()}
	if err = os.MkdirAll(s.dir, 0o755); err != nil {
		return nil, err
	}
	if s.lock, err = os.Open(s.dir); err != nil {
		return nil, err
	}
	if err = syscall.Flock(int(s.lock.Fd()), syscall.LOCK_EX); err == nil {
		err = s.read()
	}
	if err != nil {
		s.close()
		return nil, err
	}
	s.settled, s.stuck = s.restore(m, func(l Left) bool { return l.By() == Orphan })
	return s, nil
}

func (s *state) close() { s.lock.Close() }

// read reads the originals; without any there is no file.
func (s *state) read() error {
	s.dir = stateDir()
	data, err := os.ReadFile(s.file())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = strict.DecodeJSON(data, &s.records)
	}
	for _, l := range s.records {
		if _, unknown := find(l.Knob); err == nil {
			err = unknown
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %s; nothing was written. Mend the file, or move it away and set the values by hand", s.file(),
			strings.ReplaceAll(err.Error(), "\n", " "))
	}
	return nil
}

// save replaces the file.
func (s *state) save() error {
	if s.dir == "" {
		return nil
	}
	if len(s.records) == 0 {
		return os.RemoveAll(s.file())
	}
	data, err := json.MarshalIndent(s.records, "", "  ")
	if err != nil {
		return err
	}
	return strict.Replace(s.file(), append(data, '\n'))
}

// beforeWrite is called before each write, and before originals are forgotten.
// Tests replace it to fail or to end the process there.
var beforeWrite = func() error { return nil }

// set writes a value and reads it back.
func (m *machine) set(path, value string) error {
	err := beforeWrite()
	if err == nil {
		err = m.write(path, value)
	}
	if err != nil {
		return err
	}
	now, err := m.read(path)
	if err == nil && plain(now) != plain(value) {
		err = fmt.Errorf("%s: %q was written, and the kernel made %q of it", path, plain(value), plain(now))
	}
	return err
}

// restore writes originals back, the last saved first, and forgets those that read back right, or
// whose file is gone. It goes on after an error, and returns the first.
func (s *state) restore(m *machine, chosen func(Left) bool) (restored []Left, first error) {
	var kept []Left
	for _, l := range slices.Backward(s.records) {
		if !chosen(l) {
			kept = append(kept, l)
			continue
		}
		k, _ := find(l.Knob)
		now, err := m.read(l.Path)
		l.Now = now
		switch {
		case s.dir != "" && k.passes(m):
			err = fmt.Errorf("%s is kept: it belongs to the machine's own network namespace; restore it there", l.Path)
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err == nil && now != l.Original:
			err = m.set(l.Path, l.Original)
		}
		if err != nil {
			kept, first = append(kept, l), cmp.Or(first, err)
		} else {
			restored = append(restored, l)
		}
	}
	if len(kept) == len(s.records) {
		return nil, first
	}
	slices.Reverse(kept)
	s.records = kept
	return restored, errors.Join(first, beforeWrite(), s.save())
}

// All lists the settings that something turned on this machine and nothing has restored.
func All() (all []Left, err error) {
	m, err := here()
	if errors.As(err, new(Unavailable)) {
		return nil, nil // nothing can be turned from here
	}
	s := &state{}
	if err == nil {
		err = s.read()
	}
	if err != nil {
		return nil, err
	}
	for _, l := range s.records {
		k, _ := find(l.Knob)
		l.Now, err = m.read(l.Path)
		if err == nil && !k.passes(m) && plain(l.Now) != plain(l.Original) {
			all = append(all, l)
		}
	}
	return all, nil
}

// Settle restores what processes that have died left turned, as after kill -9, and
// says what it restored and what is still turned. left is valid with an error, too.
func Settle() (restored, left []Left, err error) {
	orphan := func(l Left) bool { return l.By() == Orphan }
	m, err := here()
	if left, failed := All(); err != nil || failed != nil || !slices.ContainsFunc(left, orphan) || m.root(stateDir()) != nil {
		return nil, left, failed // who can restore nothing has nothing turned, or is told what is
	}
	s, err := open(m)
	if err != nil {
		return nil, nil, err
	}
	s.close()
	left, err = All()
	return s.settled, left, errors.Join(err, s.stuck)
}
