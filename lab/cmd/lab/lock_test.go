package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestASecondTakeIsRefusedUntilRelease(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "there", "yet")
	release, err := takeLock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := takeLock(dir); err == nil || !strings.Contains(err.Error(), "another lab is measuring") {
		t.Errorf("a second lock: %v", err)
	}
	// The refused attempt must not have released the first lock.
	if _, err := takeLock(dir); err == nil {
		t.Error("the second attempt freed the lock")
	}
	release()
	again, err := takeLock(dir)
	if err != nil {
		t.Fatalf("after release: %v", err)
	}
	again()
}

func TestLocksOfTwoDirectoriesAreApart(t *testing.T) {
	for _, dir := range []string{t.TempDir(), t.TempDir()} {
		release, err := takeLock(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer release()
	}
}

func TestADirectoryThatCannotBeMadeIsAnError(t *testing.T) {
	if _, err := takeLock("/dev/null/lock"); err == nil || strings.Contains(err.Error(), "another lab") {
		t.Errorf("%v; want an error that blames no other lab", err)
	}
}
