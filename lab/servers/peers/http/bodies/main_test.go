package main

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/line-rate/line-rate/lab/server/catalog"
)

func TestTheFilesAreTheCatalogues(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "bodies")
	digest, err := write(dir)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := catalog.NewPool(catalog.Seed)
	if err != nil {
		t.Fatal(err)
	}
	read := filepath.Join(dir, "read.jsonl")
	text, err := os.ReadFile(read)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(text)
	if got := hex.EncodeToString(sum[:]); got != pool.Digest() || digest != got {
		t.Errorf("read.jsonl has the digest %s, %s was said, and the catalogue has %s", got, digest, pool.Digest())
	}
	route, _ := catalog.RouteOf("/read")
	for name, want := range map[string]string{"simple.jsonl": catalog.Simple + "\n",
		"read-middle.jsonl": string(route.Middle(pool)) + "\n"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %v, %.80q", name, err, got)
		}
	}

	// Files that are right are left, so that nothing is rebuilt for them; others are not.
	before, err := os.Stat(filepath.Join(dir, "simple.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(read, []byte("{}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := write(dir); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(filepath.Join(dir, "simple.jsonl"))
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("%v; a file that was right was written anew", err)
	}
	if again, err := os.ReadFile(read); err != nil || string(again) != string(text) {
		t.Errorf("%v; a file that was wrong is still wrong", err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 3 {
		t.Errorf("%v, %v", files, err)
	}
}
