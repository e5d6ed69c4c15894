package journal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFindLooksUpwards(t *testing.T) {
	root := Root(t.TempDir())
	deep := root.Path("data", "results", "11-threads")
	for _, dir := range []string{root.Path("lab", "experiments"), deep, string(root)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if got, err := Find(dir); err != nil || got != root {
			t.Errorf("from %s: %s, %v; want %s", dir, got, err, root)
		}
	}
	if got, err := Find(t.TempDir()); err == nil || !strings.Contains(err.Error(), "not inside a clone") {
		t.Errorf("outside: %s, %v", got, err)
	}
}

func TestRelShortensWhatIsInside(t *testing.T) {
	root := Root(filepath.FromSlash("/a/b"))
	for path, want := range map[string]string{"/a/b/data/x.json": "data/x.json", "/a/b": ".", "/a/c/x.json": "/a/c/x.json",
		"/x": "/x"} {
		if got := root.Rel(filepath.FromSlash(path)); got != filepath.FromSlash(want) {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
