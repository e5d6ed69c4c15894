package proc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Lock takes the lock of a directory, or says that another process holds it. It keeps
// two runs from going on at once: they would measure each other's load. The kernel drops
// the lock with the process, however it ends.
//
// Runs in two clones do not exclude each other; a comparison excludes them all.
func Lock(dir string) (release func(), err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	own, err := take(filepath.Join(dir, "lock"), syscall.LOCK_EX, "another lab is measuring in this clone")
	if err != nil {
		return nil, err
	}
	all, err := machine(syscall.LOCK_SH, "linerate is measuring on this machine")
	if err != nil {
		own.Close()
		return nil, err
	}
	return func() { all.Close(); own.Close() }, nil
}

// LockMachine takes this user's lock of the whole machine, or says that another comparison or
// a run of the journal goes on.
func LockMachine() (release func(), err error) {
	f, err := machine(syscall.LOCK_EX, "another linerate, or a run of the lab, is measuring on this machine")
	return func() { f.Close() }, err
}

// machine takes this user's lock of the machine. It lies in the user's directory for what ends with the session,
// if there is one.
func machine(how int, held string) (*os.File, error) {
	uid := strconv.Itoa(os.Getuid())
	path := filepath.Join(os.TempDir(), "linerate-"+uid+".lock")
	for _, dir := range []string{"/run/user/" + uid, os.Getenv("XDG_RUNTIME_DIR")} {
		if info, err := os.Stat(dir); err == nil && info.IsDir() && filepath.IsAbs(dir) {
			path = filepath.Join(dir, "linerate.lock")
		}
	}
	f, err := take(path, how, held)
	if why := syscall.Errno(0); errors.As(err, &why) {
		return nil, fmt.Errorf("%s: %v; remove it, or set XDG_RUNTIME_DIR to a directory of your own", path, why)
	}
	return f, err
}

// take locks a file, which it makes where it is missing. Nothing is ever written to it, and no link is
// followed: anyone may write in a directory for temporary files.
func take(path string, how int, held string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB); err != nil {
		defer f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, Locked{held, holder(f)}
		}
		return nil, err
	}
	return f, nil
}

// Locked is the error where another process has the lock; Says is what that one does, and PID is 0 if it is not known.
type Locked struct {
	Says string
	PID  int
}

func (h Locked) Error() string {
	if h.PID > 0 {
		return fmt.Sprintf("%s (process %d); wait for it or stop it", h.Says, h.PID)
	}
	return h.Says + "; wait for it or stop it"
}

// holder is the process that has the lock of a file; 0 if that is not known.
func holder(f *os.File) int {
	var at syscall.Stat_t
	_ = syscall.Fstat(int(f.Fd()), &at)
	text, _ := os.ReadFile("/proc/locks")
	for line := range strings.Lines(string(text)) { // 1: FLOCK ADVISORY WRITE 1234 fe:00:5678 0 EOF
		if w := strings.Fields(line); len(w) > 5 && strings.HasSuffix(w[5], fmt.Sprintf(":%d", at.Ino)) {
			pid, _ := strconv.Atoi(w[4])
			return pid
		}
	}
	return 0
}
