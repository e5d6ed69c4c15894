package session

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestASecondTakeIsRefusedUntilRelease(t *testing.T) {
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

func TestLocksOfTwoDirectoriesAreApart(t *testing.T) {
	for _, dir := range []string{t.TempDir(), t.TempDir()} {
		release, err := Lock(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer release()
	}
}

func TestADirectoryThatCannotBeMadeIsAnError(t *testing.T) {
	if _, err := Lock("/dev/null/lock"); err == nil || strings.Contains(err.Error(), "another lab") {
		t.Errorf("%v; want an error that blames no other lab", err)
	}
}
