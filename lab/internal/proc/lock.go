package proc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
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
	own, err := take(dir, syscall.LOCK_EX, "another lab is measuring in this clone")
	if err != nil {
		return nil, err
	}
	user, err := runtimeDir()
	var all *os.File
	if err == nil {
		all, err = take(user, syscall.LOCK_SH, "linerate is measuring on this machine")
	}
	if err != nil {
		own.Close()
		return nil, err
	}
	return func() { all.Close(); own.Close() }, nil
}

// LockMachine takes this user's lock of the whole machine, or says that another comparison or
// a run of the journal goes on.
func LockMachine() (release func(), err error) {
	dir, err := runtimeDir()
	if err != nil {
		return nil, err
	}
	f, err := take(dir, syscall.LOCK_EX, "another linerate, or a run of the lab, is measuring on this machine")
	if err != nil {
		return nil, err
	}
	return func() { f.Close() }, nil
}

// runtimeDir is this user's directory for what ends with the machine's uptime at the latest. It
// is made if it is not there; one that others could have made is refused.
func runtimeDir() (string, error) {
	uid := strconv.Itoa(os.Getuid())
	dir := filepath.Join(os.TempDir(), "linerate-"+uid)
	for _, at := range []string{os.Getenv("XDG_RUNTIME_DIR"), "/run/user/" + uid} {
		if info, err := os.Stat(at); err == nil && info.IsDir() && filepath.IsAbs(at) && owned(info) {
			dir = filepath.Join(at, "linerate")
			break
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	if !info.IsDir() || info.Mode().Perm()&0o077 != 0 || !owned(info) {
		return "", fmt.Errorf("%s is not a directory of this user alone, so what lies in it may be another's; remove it, or "+
			"set XDG_RUNTIME_DIR", dir)
	}
	return dir, nil
}

func owned(info os.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Getuid()
}

func take(dir string, how int, held string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%s; wait for it or stop it", held)
		}
		return nil, err
	}
	return f, nil
}
