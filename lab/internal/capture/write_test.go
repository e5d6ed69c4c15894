package capture

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/line-rate/line-rate/lab/internal/profiles"
)

// whole is a set with one sample of each kind.
func whole() *Set {
	set := &Set{Processes: 1, Window: time.Second, Merged: map[profiles.Kind]*profile.Profile{}}
	for i, k := range profiles.Kinds() {
		set.Merged[k] = sample([]string{k.SampleType()}, []int64{int64(i + 1)})
	}
	return set
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestWrite(t *testing.T) {
	root := t.TempDir()
	empty := filepath.Join(root, "empty")
	if err := os.Mkdir(empty, 0o755); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(root, "link")
	if err := os.Symlink(filepath.Join(root, "aside"), link); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root, "aside"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{filepath.Join(root, "new"), empty, link} {
		if err := Write(dir, whole()); err != nil {
			t.Errorf("%s: %v", dir, err)
			continue
		}
		want := []string{"allocs.pb.gz", "block.pb.gz", "cpu.pb.gz", "goroutine.pb.gz", "heap.pb.gz", "mutex.pb.gz"}
		if got := names(t, dir); !slices.Equal(got, want) {
			t.Errorf("%s has %v", dir, got)
		}
		for i, k := range profiles.Kinds() {
			path := filepath.Join(dir, string(k)+".pb.gz")
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			p, err := profile.Parse(f)
			f.Close()
			if err != nil {
				t.Fatal(err)
			}
			if sum, err := profiles.Total(p, k); err != nil || sum != int64(i+1) {
				t.Errorf("%s: %d, %v", path, sum, err)
			}
			if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
				t.Errorf("%s: mode %v, %v", path, info.Mode(), err)
			}
		}
	}
	if got, want := names(t, root), []string{"aside", "empty", "link", "new"}; !slices.Equal(got, want) {
		t.Errorf("beside them: %v", got)
	}
}

func TestWhatIsThereStays(t *testing.T) {
	root := t.TempDir()
	full, file := filepath.Join(root, "full"), filepath.Join(root, "file")
	if err := os.Mkdir(full, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(full, "cpu.pb.gz"), file} {
		if err := os.WriteFile(path, []byte("before"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for dir, want := range map[string]string{
		full:                              "is not empty",
		file:                              "is not a directory",
		filepath.Join(root, "none", "it"): "cannot be made",
	} {
		_, vacant := Vacant(dir)
		for what, err := range map[string]error{"Vacant": vacant, "Write": Write(dir, whole())} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s of %s: %v; want %q", what, dir, err, want)
			}
		}
	}
	// A set that could not be written leaves nothing behind.
	half := whole()
	half.Merged[profiles.Goroutine] = &profile.Profile{Sample: []*profile.Sample{{}}}
	if err := Write(filepath.Join(root, "new"), half); err == nil {
		t.Error("a set that is not valid was written")
	}
	if got := names(t, root); !slices.Equal(got, []string{"file", "full"}) {
		t.Errorf("left: %v", got)
	}
	if text, err := os.ReadFile(filepath.Join(full, "cpu.pb.gz")); err != nil || string(text) != "before" {
		t.Errorf("%q, %v", text, err)
	}
}
