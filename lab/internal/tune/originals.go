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

	"github.com/line-rate/line-rate/lab/internal/strict"
)

// An original is a target's value before a knob first changed it.
type original struct {
	Knobs    []string  `json:"knobs"` // knobs that have changed it since
	Target   target    `json:"target"`
	Original string    `json:"original"` // byte for byte
	Wanted   string    `json:"wanted"`   // value wanted by the last of the knobs
	Boot     string    `json:"boot_id"`
	Net      namespace `json:"network_namespace"`
	Time     time.Time `json:"time"`
	Holder   *keeper   `json:"holder,omitempty"` // nil: it was turned by hand
}

// version is the version of the journal's format.
const version = 1

// originals are the journal's records, in the order in which they were saved.
type originals struct {
	Version int        `json:"version"`
	Records []original `json:"records"`
}

// A session is the state directory with its journal. Only a session with the
// lock may write.
type session struct {
	originals
	m    *machine
	dir  string
	lock *os.File
}

// How long to wait for the lock: longer than any apply takes, since the holds
// of a lab that died all restore at once.
const lockWait, lockTick = 30 * time.Second, 20 * time.Millisecond

// rootDir is where root keeps originals; tests replace it.
var rootDir = "/var/lib/line-rate"

// machineRoot tells whether this is root of the machine rather than of a user
// namespace, which cannot write below /var/lib.
func machineRoot() bool { return os.Geteuid() == 0 && initialUser() }

// rootsOwn is a hint for a user who finds no originals: root may hold some
// elsewhere.
func (c *Call) rootsOwn() string {
	_, err := os.Stat(rootDir)
	if err != nil || c.options.state != "" || os.Getenv("LINE_RATE_STATE") != "" || machineRoot() {
		return ""
	}
	return "what root has saved is in " + rootDir + ": run with sudo for that\n"
}

// stateDir is the directory where originals are kept.
func stateDir(asked string) (string, error) {
	asked = cmp.Or(asked, os.Getenv("LINE_RATE_STATE"))
	switch xdg := os.Getenv("XDG_STATE_HOME"); {
	case asked != "":
		return filepath.Abs(asked)
	case machineRoot():
		return rootDir, nil
	case filepath.IsAbs(xdg):
		return filepath.Join(xdg, "line-rate"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("there is no home to keep originals in (%w); name a directory with --state DIR", err)
	}
	return filepath.Join(home, ".local", "state", "line-rate"), nil
}

// open makes the state directory, locks it and reads the journal.
func open(m *machine, asked string) (*session, error) {
	dir, err := stateDir(asked)
	if err != nil {
		return nil, err
	}
	s := &session{m: m, dir: dir}
	if err = os.MkdirAll(dir, 0o755); err == nil {
		if err := safe(dir); err != nil {
			return nil, err
		}
		s.lock, err = os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("%w; name a directory for the originals with --state DIR", err)
	}
	if err = s.wait(); err == nil {
		err = s.read()
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *session) wait() error {
	for end := time.Now().Add(lockWait); time.Now().Before(end); time.Sleep(lockTick) {
		err := syscall.Flock(int(s.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR):
			return fmt.Errorf("%s: %w", s.lock.Name(), err)
		}
	}
	return fmt.Errorf("%s: another lab tune has held it for %v; wait for it or end it", s.lock.Name(), lockWait)
}

func (s *session) close()       { s.lock.Close() }
func (s *session) file() string { return filepath.Join(s.dir, "originals.json") }

// safe refuses a file or directory that other users can write to.
func safe(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	of, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(of.Uid) != os.Geteuid() || info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s belongs to another user or can be written to by others, who could have anything restored; "+
			"name another directory with --state DIR", path)
	}
	return nil
}

// read reads the journal, which may be absent.
func (s *session) read() error {
	s.Version = version
	data, err := os.ReadFile(s.file())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = safe(s.file())
	}
	if err != nil {
		return err
	}
	if s.originals, err = decode(data); err != nil {
		return fmt.Errorf("%s: %s; nothing was written. Mend the file, or move it away and set the values by hand", s.file(),
			strings.ReplaceAll(err.Error(), "\n", " "))
	}
	return nil
}

func decode(data []byte) (originals, error) {
	var all originals
	if err := strict.CheckJSON(data); err != nil {
		return all, err
	}
	// The version is read first: another version may have another shape.
	var head struct{ Version int }
	if err := json.Unmarshal(data, &head); err != nil {
		return all, err
	}
	if head.Version != version {
		return all, fmt.Errorf("it is a journal of version %d, and this lab knows version %d", head.Version, version)
	}
	if err := strict.DecodeJSON(data, &all); err != nil {
		return all, err
	}
	return all, nil
}

// save replaces the journal and returns once the new one would survive a crash.
func (s *session) save() error {
	if len(s.Records) == 0 {
		if err := os.Remove(s.file()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return syncDir(s.dir)
	}
	data, err := json.MarshalIndent(s.originals, "", "  ")
	if err != nil {
		return err
	}
	// Only the holder of the lock writes, so a file of this name is left from a
	// crash and may be overwritten.
	// Others may read it: a run of theirs has to know what is turned.
	temp := s.file() + ".new"
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY|syscall.O_NOFOLLOW, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(append(data, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(temp, s.file())
	}
	if err != nil {
		os.Remove(temp)
		return err
	}
	return syncDir(s.dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// held is the index of the record of a target as it exists here now, or -1.
func (s *session) held(t target) int {
	return slices.IndexFunc(s.Records, func(r original) bool {
		sameBoot, initial := r.Boot == s.m.boot, r.Net.Initial && s.m.net.Initial
		switch {
		case r.Target.Kind != t.Kind || r.Target.Path != t.Path:
			return false
		case t.Scope == scopeNamespace && sameBoot:
			return (r.Net.is(s.m.net) || initial) && r.Target.Index == t.Index
		case t.Scope == scopeNamespace:
			return initial
		}
		return true
	})
}

// missing says why a record's target is not here; empty where it is. gone means
// that the target no longer exists; else it is in another namespace that still
// exists.
func (s *session) missing(r original) (why string, gone bool) {
	t, m, sameBoot := r.Target, s.m, r.Boot == s.m.boot
	switch {
	case t.Scope == scopeMachine:
	case !sameBoot && !r.Net.Initial:
		return "its network namespace went with the last boot", true
	case r.Net.Initial && !m.net.Initial:
		return "it belongs to the initial network namespace; restore it there", false
	case sameBoot && !r.Net.is(m.net) && !r.Net.Initial:
		if way := m.wayInto(r.Net); way != "" {
			return fmt.Sprintf("it belongs to network namespace %d; restore it there (%s)", r.Net.Inode, way), false
		}
		return fmt.Sprintf("network namespace %d is gone", r.Net.Inode), true
	case t.Dev != "":
		now, err := m.device(t.Dev)
		if err != nil {
			return "there is no interface " + t.Dev + " any more", true
		}
		if sameBoot && now.Index != t.Index {
			return "interface " + t.Dev + " is another one now", true
		}
	}
	if t.Kind != kindFile || m.exists(t.Path) {
		// After a reboot another device may have the interrupt's number.
		if t.IRQ != 0 && !sameBoot {
			if all, err := m.interrupts(); err != nil || all[t.IRQ] != t.Action {
				return fmt.Sprintf("interrupt %d is no longer %s", t.IRQ, t.Action), true
			}
		}
		return "", false
	}
	return "it is not there any more", true
}

// wayInto says how to enter a network namespace, by a process in it or a file
// that keeps it. The inode may belong to a later namespace by now; such a
// record is then kept rather than forgotten.
func (m *machine) wayInto(n namespace) string {
	if n.Inode == m.net.Inode {
		return "" // this namespace is the later one
	}
	want := fmt.Sprintf("net:[%d]", n.Inode)
	links, _ := filepath.Glob(m.real("/proc/[0-9]*/ns/net"))
	for _, l := range links {
		if link, err := os.Readlink(l); err == nil && link == want {
			return "nsenter --net --target " + filepath.Base(filepath.Dir(filepath.Dir(l)))
		}
	}
	mounts, _ := os.ReadFile(m.real("/proc/self/mountinfo"))
	for line := range strings.Lines(string(mounts)) {
		if fields := strings.Fields(line); len(fields) > 4 && fields[3] == want {
			return "nsenter --net=" + fields[4]
		}
	}
	return ""
}
