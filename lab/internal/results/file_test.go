package results

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func scratchAndTarget(t *testing.T) (scratch, path string) {
	t.Helper()
	dir := t.TempDir()
	return filepath.Join(dir, "scratch"), filepath.Join(dir, "data", "results", "x", "r.json")
}

func empty(t *testing.T, scratch string) {
	t.Helper()
	left, err := os.ReadDir(scratch)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, e := range left {
		t.Errorf("%s was left in scratch", e.Name())
	}
}

func TestWriteNewNeverReplaces(t *testing.T) {
	scratch, path := scratchAndTarget(t)
	if err := WriteNew(scratch, path, []byte("first")); err != nil {
		t.Fatal(err)
	}
	empty(t, scratch)
	err := WriteNew(scratch, path, []byte("second"))
	if err == nil || !strings.Contains(err.Error(), "exists already") || !strings.Contains(err.Error(), path) {
		t.Errorf("a second time: %v", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "first" {
		t.Errorf("the file holds %q", got)
	}
	empty(t, scratch)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v; others are to read it", info.Mode(), err)
	}
}

func TestWriteNewLeavesNothingWhereItCannotWrite(t *testing.T) {
	scratch, path := scratchAndTarget(t)
	// A directory where the file should be.
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := WriteNew(scratch, path, []byte("x")); err == nil {
		t.Error("it wrote over a directory")
	}
	if err := Replace(scratch, path, []byte("x")); err == nil {
		t.Error("it replaced a directory")
	}
	empty(t, scratch)
	// A file where a directory should be.
	if err := WriteNew(scratch, filepath.Join(os.Args[0], "x", "r.json"), []byte("x")); err == nil {
		t.Error("it wrote below a file")
	}
	empty(t, scratch)
}

// Many writers race for one name. A reader sees either nothing or a complete
// text, and one writer wins.
func TestANameAppearsOnlyComplete(t *testing.T) {
	scratch, path := scratchAndTarget(t)
	text := func(i int) []byte { return bytes.Repeat([]byte{byte('a' + i)}, 1<<18) }
	const writers = 8
	var won sync.Map
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for i := range writers {
		wg.Go(func() {
			if WriteNew(scratch, path, text(i)) == nil {
				won.Store(i, true)
			}
		})
	}
	var reader sync.WaitGroup
	reader.Go(func() {
		for {
			if got, err := os.ReadFile(path); err == nil {
				if len(got) != 1<<18 || !bytes.Equal(got, text(int(got[0]-'a'))) {
					t.Errorf("a reader saw %d bytes, or those of several writers", len(got))
				}
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	wg.Wait()
	close(stop)
	reader.Wait()
	winners := 0
	won.Range(func(i, _ any) bool {
		winners++
		if got, _ := os.ReadFile(path); !bytes.Equal(got, text(i.(int))) {
			t.Error("the file is not the winner's")
		}
		return true
	})
	if winners != 1 {
		t.Errorf("%d writers believe they wrote it", winners)
	}
	empty(t, scratch)
}

func TestReplaceReplaces(t *testing.T) {
	scratch, path := scratchAndTarget(t)
	for _, text := range []string{"first", "second", ""} {
		if err := Replace(scratch, path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(path); string(got) != text {
			t.Errorf("the file holds %q, want %q", got, text)
		}
	}
	empty(t, scratch)
}

// The files that the journal has, with a corrupt one and a missing one among
// them: each result stands at the place of its path.
func TestReadAllKeepsTheOrder(t *testing.T) {
	paths := committed(t, "results", "*", "*.json")[:20]
	corrupt := filepath.Join(t.TempDir(), "corrupt.json")
	if err := os.WriteFile(corrupt, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	bad := map[int]string{3: corrupt, 11: filepath.Join(t.TempDir(), "missing.json")}
	for i, p := range bad {
		paths[i] = p
	}
	files, errs := ReadAll(paths)
	for i, p := range paths {
		if bad[i] != "" {
			if files[i] != nil || errs[i] == nil || !strings.Contains(errs[i].Error(), p) {
				t.Errorf("%s: %v, %v", p, files[i], errs[i])
			}
			continue
		}
		if errs[i] != nil || files[i].Run+".json" != filepath.Base(p) {
			t.Errorf("%s: %v", p, errs[i])
		}
	}
}
