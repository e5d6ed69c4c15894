package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestASecondTakeIsRefusedUntilRelease(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	dir := filepath.Join(t.TempDir(), "not", "there", "yet")
	release, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(dir); err == nil || !strings.Contains(err.Error(), "another lab is measuring") {
		t.Errorf("a second lock: %v", err)
	}
	// The refused attempt must not have released the first lock.
	if _, err := Lock(dir); err == nil {
		t.Error("the second attempt freed the lock")
	}
	release()
	again, err := Lock(dir)
	if err != nil {
		t.Fatalf("after release: %v", err)
	}
	again()
}

func TestAComparisonAndARunExcludeEachOther(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	release, err := LockMachine()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(t.TempDir()); err == nil || !strings.Contains(err.Error(), "linerate is measuring on this machine") {
		t.Errorf("a run beside a comparison: %v", err)
	}
	if _, err := LockMachine(); err == nil || !strings.Contains(err.Error(),
		fmt.Sprintf("another linerate, or a run of the lab, is measuring on this machine (process %d)", os.Getpid())) {
		t.Errorf("a comparison beside another: %v", err)
	}
	release()
	release, err = Lock(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if _, err := LockMachine(); err == nil || !strings.Contains(err.Error(), "a run of the lab") {
		t.Errorf("a comparison beside a run: %v", err)
	}
}

func TestALinkIsNoLock(t *testing.T) {
	at := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", at)
	if err := os.Symlink(filepath.Join(t.TempDir(), "other"), filepath.Join(at, "linerate.lock")); err != nil {
		t.Fatal(err)
	}
	if _, err := LockMachine(); err == nil || !strings.Contains(err.Error(), at) || !strings.Contains(err.Error(), "set XDG_RUNTIME_DIR") {
		t.Error(err)
	}
}

func TestADirectoryThatCannotBeMadeIsAnError(t *testing.T) {
	if _, err := Lock("/dev/null/lock"); err == nil || strings.Contains(err.Error(), "another lab") {
		t.Errorf("%v; want an error that blames no other lab", err)
	}
}
