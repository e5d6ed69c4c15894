package pprofsock

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/profiles"
)

// socketDir returns a directory that passes Check: short and closed to others.
func socketDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "s") // mode 0700; t.TempDir's path can be too long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// A process may get the id of a killed one, and then takes over its socket.
func TestSocketOfADeadProcessWithThisID(t *testing.T) {
	dir := socketDir(t)
	path := Path(dir, os.Getpid())
	dead, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	dead.(*net.UnixListener).SetUnlinkOnClose(false)
	dead.Close()
	ln, err := listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	// It must not take over a socket in use.
	if _, err := listen(dir); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a socket in use is taken: %v", err)
	}
	if conn, err := net.Dial("unix", path); err != nil {
		t.Errorf("the socket in use was removed: %v", err)
	} else {
		conn.Close()
	}
	ln.Close()
}

func TestDirRefused(t *testing.T) {
	root := socketDir(t)
	mkdir := func(name string, mode os.FileMode) string {
		path := filepath.Join(root, name)
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file := filepath.Join(root, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	// With the longest possible process id, the path is one byte too long.
	long := mkdir(strings.Repeat("x", longestPath+1-len("//4194304.sock")-len(root)), 0o700)
	fits := mkdir(strings.Repeat("y", longestPath-len("//4194304.sock")-len(root)), 0o700)

	for dir, want := range map[string]string{
		filepath.Join(root, "nothing"): "does not exist; make it with mkdir -p -m 700",
		file:                           "is not a directory",
		mkdir("group", 0o750):          "has mode 0750",
		mkdir("others", 0o701):         "has mode 0701",
		mkdir("shut", 0o500):           "has mode 0500",
		long:                           "is too long by 1: a socket's path has at most 107 bytes",
	} {
		if err := Check(dir); err == nil || !strings.HasPrefix(err.Error(), dir+" "+want) {
			t.Errorf("%s: %v, want %q", dir, err, want)
		}
	}
	if err := Check(fits); err != nil {
		t.Errorf("a path of %d bytes with the longest id: %v", len(fits)+len("/4194304.sock"), err)
	}
	// Only root can test with another user's directory; / is root's.
	if os.Geteuid() == 0 {
		theirs := mkdir("theirs", 0o700)
		if err := os.Chown(theirs, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		if err := Check(theirs); err == nil || !strings.Contains(err.Error(), "belongs to user 65534") {
			t.Errorf("a directory of another user: %v", err)
		}
	} else if err := Check("/"); err == nil || !strings.Contains(err.Error(), "belongs to user 0") {
		t.Errorf("a directory of root's: %v", err)
	}
}

// A serving process reports it in one line, and leaves nothing when it stops.
func TestServe(t *testing.T) {
	dir := socketDir(t)
	var said []string
	say := func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	mutex := runtime.SetMutexProfileFraction(-1)
	defer runtime.SetMutexProfileFraction(mutex)
	defer runtime.SetBlockProfileRate(0)
	stop, err := Serve(dir, Rates{MutexFraction: 7, BlockRateNs: 1}, say)
	if err != nil {
		t.Fatal(err)
	}
	path := Path(dir, os.Getpid())
	if want := fmt.Sprintf("pprof pid=%d listening addr=%s", os.Getpid(), path); len(said) != 1 || said[0] != want {
		t.Errorf("said %q, want %q", said, want)
	}
	if n := runtime.SetMutexProfileFraction(-1); n != 7 {
		t.Errorf("one in %d mutex events is sampled", n)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != os.ModeSocket|0o600 {
		t.Errorf("the socket: %v, %v", info, err)
	}
	// A second call in the same process gets no socket and has nothing to stop.
	if _, err := Serve(dir, Rates{}, say); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("twice: %v", err)
	}
	if n := runtime.SetMutexProfileFraction(-1); n != 7 {
		t.Errorf("what failed left a rate: %d", n)
	}
	stop()
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 || len(said) != 1 {
		t.Errorf("left behind: %v, %v; said %q", left, err, said)
	}
}

// This package's functions in front of net/http/pprof are recognised as
// profiling.
func TestTheProfilerKnowsItself(t *testing.T) {
	var own []string
	h := bounded(new(windows).handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		pcs := make([]uintptr, 32)
		frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
		for {
			f, more := frames.Next()
			if strings.HasSuffix(f.File, "/pprofsock.go") || strings.HasSuffix(f.File, "/window.go") {
				own = append(own, f.Function)
			}
			if !more {
				return
			}
		}
	})))
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/debug/pprof/heap", nil))
	if len(own) < 2 {
		t.Fatalf("of this package only %v is on the stack", own)
	}
	for _, name := range own {
		if !profiles.IsProfiler(name) {
			t.Errorf("%s is not known", name)
		}
	}
}
