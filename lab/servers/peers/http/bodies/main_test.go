package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/line-rate/line-rate/lab/server/catalog"
)

// The files are the catalogue's. Files that are right are left, so that nothing is rebuilt for them; others are not.
func TestTheFilesAreTheCatalogues(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "bodies")
	pool, err := catalog.NewPool(catalog.Seed)
	if err != nil {
		t.Fatal(err)
	}
	if digest, err := write(dir); err != nil || digest != pool.Digest() {
		t.Fatalf("%v, the digest %s, and the catalogue has %s", err, digest, pool.Digest())
	}
	simple, read := filepath.Join(dir, "simple.jsonl"), filepath.Join(dir, "read.jsonl")
	before, err := os.Stat(simple)
	if err != nil {
		t.Fatal(err)
	}
	right, err := os.ReadFile(read)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(read, []byte("{}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := write(dir); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(simple)
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("%v; a file that was right was written anew", err)
	}
	route, _ := catalog.RouteOf("/read")
	for name, want := range map[string]string{"simple.jsonl": catalog.Simple + "\n", "read.jsonl": string(right),
		"read-middle.jsonl": string(route.Middle(pool)) + "\n"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %v, %.80q", name, err, got)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 3 {
		t.Errorf("%v, %v", files, err)
	}
}
