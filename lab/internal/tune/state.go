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

	"github.com/line-rate/line-rate/lab/internal/proc"
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
	// alone may be used again. Without one, a person turned it by hand.
	PID   int `json:"pid,omitempty"`
	Start int `json:"start,omitempty"`

	Now string `json:"-"`
}

// ByHand tells whether a person turned it, and stays so until restore.
func (l Left) ByHand() bool { return l.PID == 0 }

// Held tells whether a process that still runs restores it when it ends.
func (l Left) Held() bool { return !l.ByHand() && l.Start == began(l.PID) }

// Orphan tells whether that process has died without restoring it.
func (l Left) Orphan() bool { return !l.ByHand() && !l.Held() }

// began is when a process started, in ticks since boot; 0 if it has ended. One that was killed keeps its number
// until its parent asks for its end, which the first process of a container may never do.
func began(pid int) int {
	s, err := proc.ReadStat(pid)
	if err != nil || s.State == 'Z' {
		return 0
	}
	return s.Began
}

// Service tells whether it is a service that was stopped.
func (l Left) Service() bool { return strings.HasPrefix(l.Path, unitPrefix) }

func (l Left) String() string {
	by := map[bool]string{l.ByHand(): "by hand", l.Held(): fmt.Sprintf("and process %d still holds it", l.PID),
		l.Orphan(): "and the process that was to restore it has died"}[true]
	return fmt.Sprintf("the kernel setting %s is %q and was %q: tune-%s.sh turned it at %s, %s", l.Path,
		plain(l.Now), plain(l.Original), l.Knob, l.Since.Format(time.RFC3339), by)
}

// stateDir is the directory of the originals, which a boot empties; tests have another.
func stateDir() string { return cmp.Or(os.Getenv("LINE_RATE_STATE"), "/run/line-rate") }

// originals is their file; without any there is none.
func originals() string { return filepath.Join(stateDir(), "originals.json") }

// read reads the originals.
func read() (records []Left, err error) {
	data, err := os.ReadFile(originals())
	if err == nil {
		err = strict.DecodeJSON(data, &records)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w; nothing was written. Mend the file, or move it away and set the values by hand", originals(), err)
	}
	return records, nil
}

// locked changes the originals, and what they are of; nobody else does meanwhile.
func (m *system) locked(change func() error) error {
	if m.apart {
		return change()
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
	if m.records, err = read(); err != nil {
		return err
	}
	return change()
}

// save replaces the file.
func (m *system) save() error {
	switch {
	case m.apart:
		return nil
	case len(m.records) == 0:
		return os.RemoveAll(originals())
	}
	data, _ := json.MarshalIndent(m.records, "", "  ") // which has nothing that JSON does not know
	return strict.Replace(originals(), append(data, '\n'))
}

// putBack writes originals back, the last saved first, and forgets those that read back right, or
// whose file is gone. It goes on after an error, and returns the first.
func (m *system) putBack(chosen func(Left) bool) (restored []Left, first error) {
	saved := len(m.records)
	for i, l := range slices.Backward(m.records) {
		if !chosen(l) {
			continue
		}
		var err error
		if l.Now, err = m.read(l.Path); err == nil && l.Now != l.Original {
			err = m.set(l.Path, l.Original)
		}
		if err == nil {
			restored = append(restored, l)
		} else if !errors.Is(err, fs.ErrNotExist) {
			first = cmp.Or(first, err)
			continue
		}
		m.records = slices.Delete(m.records, i, i+1)
	}
	if len(m.records) == saved {
		return nil, first
	}
	return restored, cmp.Or(first, beforeWrite(), m.save())
}

// restore restores the chosen settings of this machine.
func (m *system) restore(chosen func(Left) bool) (restored []Left, err error) {
	err = m.locked(func() (err error) {
		restored, err = m.putBack(chosen)
		return err
	})
	return restored, err
}

// All lists the settings that something turned on this machine and nothing has restored.
func All() (all []Left, err error) {
	m, none := here()
	if none != nil {
		return nil, nil
	}
	records, err := read()
	for _, l := range records {
		var unread error
		l.Now, unread = m.read(l.Path)
		elsewhere := m.apart && strings.HasPrefix(l.Path, netDir) // another interface of that name may be here
		if unread == nil && !elsewhere && plain(l.Now) != plain(l.Original) {
			all = append(all, l)
		}
	}
	return all, err
}

// Settle restores what processes that have died left turned, as after kill -9, and
// says what it restored and what is still turned. left is valid with an error, too.
func Settle() (restored, left []Left, err error) {
	left, err = All()
	m, none := here()
	if none != nil || m.may(stateDir()) != nil || !slices.ContainsFunc(left, Left.Orphan) {
		return nil, left, err // a user who can restore nothing still sees what is turned
	}
	restored, stuck := m.restore(Left.Orphan)
	left, err = All()
	return restored, left, cmp.Or(stuck, err)
}
