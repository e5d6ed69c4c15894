package results

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Files that root writes under sudo are given to the caller, up to the first
// directory that the caller owns; a clone that root owns stays root's.
func TestWhatRootWritesIsTheCallers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root: only root can give a file away")
	}
	t.Setenv("SUDO_UID", "12345")
	t.Setenv("SUDO_GID", "12345")
	for clone, want := range map[int]int{12345: 12345, 0: 0, 777: 0} {
		root := t.TempDir()
		if err := os.Chown(root, clone, clone); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(root, "data", "results", "x", "r.json")
		if err := WriteNew(filepath.Join(root, "scratch"), path, []byte("{}")); err != nil {
			t.Fatal(err)
		}
		for _, p := range []string{path, filepath.Dir(path), filepath.Join(root, "data")} {
			if owner, _ := ownerOf(p); owner != want {
				t.Errorf("in a clone of %d, %s belongs to %d, want %d", clone, p, owner, want)
			}
		}
		if owner, _ := ownerOf(root); owner != clone {
			t.Errorf("the clone of %d belongs to %d", clone, owner)
		}
	}
}

// ownerOf gives the user id that owns a file.
func ownerOf(path string) (uid int, ok bool) {
	info, err := os.Lstat(path)
	if err != nil {
		return 0, false
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(s.Uid), true
}
