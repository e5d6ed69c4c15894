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

// ByHand tells whether it was turned by hand, and stays so until it is restored.
func (l Left) ByHand() bool { return l.PID == 0 }

// Held tells whether a process that still runs restores it when it ends.
func (l Left) Held() bool { return !l.ByHand() && l.Start == began(l.PID) }

// Orphan tells whether that process has died without restoring it.
func (l Left) Orphan() bool { return !l.ByHand() && !l.Held() }

// began is when a process started, in ticks since boot; 0 if it has ended. One that was killed keeps its number
// until its parent asks for its end, which the first process of a container may never do.
func began(pid int) uint64 {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0
	}
	s, err := p.Stat()
	if err != nil || s.State == "Z" {
		return 0
	}
	return s.Starttime
}

// Service tells whether it is a service that was stopped.
func (l Left) Service() bool { return strings.HasPrefix(l.Path, unitPrefix) }

func (l Left) String() string {
	by := "by hand"
	if l.Held() {
		by = fmt.Sprintf("and process %d still holds it", l.PID)
	} else if l.Orphan() {
		by = "and the process that was to restore it has died"
	}
	return fmt.Sprintf("the kernel setting %s is %q and was %q: tune-%s.sh turned it at %s, %s", l.Path,
		plain(l.Now), plain(l.Original), l.Knob, l.Since.Format(time.RFC3339), by)
}

// A state is the originals, in the order in which they were saved.
type state struct {
	file    string // where they are kept; empty: they go with this network namespace
	records []Left
	settled []Left // what locked has restored of what killed holds left
	stuck   error  // why it could not restore all of that
}

// stateDir is the directory of the originals, which a boot empties; tests have another.
func stateDir() string { return cmp.Or(os.Getenv("LINE_RATE_STATE"), "/run/line-rate") }

// read reads the originals; without any there is no file.
func read() (s *state, err error) {
	s = &state{file: filepath.Join(stateDir(), "originals.json")}
	data, err := os.ReadFile(s.file)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = strict.DecodeJSON(data, &s.records)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w; nothing was written. Mend the file, or move it away and set the values by hand", s.file, err)
	}
	return s, nil
}

// locked changes the originals of what is at a path, which nobody else does meanwhile. Before that it restores what
// holds that were killed have left.
func (m *machine) locked(path string, change func(s *state) error) error {
	if m.passes(path) {
		return change(&m.passing)
	}
	if err := os.MkdirAll(stateDir(), 0o755); err != nil {
		return err
	}
	lock, err := os.Open(stateDir())
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	s, err := read()
	if err != nil {
		return err
	}
	s.settled, s.stuck = s.restore(m, Left.Orphan)
	return change(s)
}

// save replaces the file.
func (s *state) save() error {
	switch {
	case s.file == "":
		return nil
	case len(s.records) == 0:
		return os.RemoveAll(s.file)
	}
	data, err := json.MarshalIndent(s.records, "", "  ")
	if err != nil {
		return err
	}
	return strict.Replace(s.file, append(data, '\n'))
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
		now, err := m.read(l.Path)
		l.Now = now
		switch {
		case s.file != "" && m.passes(l.Path):
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
	m, unavailable := here()
	if unavailable != nil {
		return nil, nil
	}
	s, err := read()
	if err != nil {
		return nil, err
	}
	for _, l := range s.records {
		l.Now, err = m.read(l.Path)
		if err == nil && !m.passes(l.Path) && plain(l.Now) != plain(l.Original) {
			all = append(all, l)
		}
	}
	return all, nil
}

// Settle restores what processes that have died left turned, as after kill -9, and
// says what it restored and what is still turned. left is valid with an error, too.
func Settle() (restored, left []Left, err error) {
	left, err = All()
	if !slices.ContainsFunc(left, Left.Orphan) {
		return nil, left, err
	}
	m, err := here()
	if err != nil || m.root(stateDir()) != nil {
		return nil, left, err // who can restore nothing is told what is turned
	}
	err = m.locked("", func(s *state) error {
		restored = s.settled
		return s.stuck
	})
	left, failed := All()
	return restored, left, errors.Join(failed, err)
}
