package endpoint

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/program"
)

func TestDirectoriesThatLetOthersInAreRefused(t *testing.T) {
	root, err := os.MkdirTemp("", "s") // t.TempDir's path can be too long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	path := func(name string) string { return filepath.Join(root, name) }
	long := strings.Repeat("x", longestDir-len("/")-len(root))
	for name, mode := range map[string]os.FileMode{"own": 0o700, "group": 0o750, long: 0o700, long + "x": 0o700} {
		if err := os.Mkdir(path(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path("file"), nil, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, says := range map[string]string{"own": "", long: "", long + "x": "is too long for the path",
		"group": "is no directory of your own that is closed", "file": "is no directory",
		"none": "is no directory of your own that is closed to others; make one with mkdir -p -m 700"} {
		if err := Check(path(name)); says == "" && err != nil || says != "" && (err == nil || !strings.HasPrefix(err.Error(), path(name)+" "+says)) {
			t.Errorf("%s: %v, want %q", name, err, says)
		}
	}
	// A process may get the id of a killed one, and then takes over its socket.
	dead, err := net.Listen("unix", path(fmt.Sprintf("own/%d.sock", os.Getpid())))
	if err != nil {
		t.Fatal(err)
	}
	dead.(*net.UnixListener).SetUnlinkOnClose(false)
	dead.Close()
	stop, _ := Serve(path("own"), Rates{}, program.Program{Errs: t.Output()})
	if stop == nil {
		t.Fatal("no socket")
	}
	stop()
	if left, err := os.ReadDir(path("own")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// Package profile takes windows of real servers.
func TestAWindowHasALength(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ServeOn(ln, Rates{}, program.Program{Errs: t.Output()})()
	for _, query := range []string{"", "seconds=0", "seconds=601"} {
		r, err := http.Get(fmt.Sprintf("http://%s%s?%s", ln.Addr(), Window, query))
		if err != nil {
			t.Fatal(err)
		}
		if r.Body.Close(); r.StatusCode != http.StatusBadRequest {
			t.Errorf("%q: status %d", query, r.StatusCode)
		}
	}
}
