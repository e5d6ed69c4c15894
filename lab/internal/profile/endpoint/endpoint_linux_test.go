package endpoint

import (
	"archive/tar"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestDirectoriesThatLetOthersInAreRefused(t *testing.T) {
	root, err := os.MkdirTemp("", "s") // t.TempDir's path can be too long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	path := func(name string) string { return filepath.Join(root, name) }
	long := strings.Repeat("x", longestPath-len("//4194304.sock")-len(root))
	for name, mode := range map[string]os.FileMode{"own": 0o700, "group": 0o750, long: 0o700, long + "x": 0o700} {
		if err := os.Mkdir(path(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path("file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, says := range map[string]string{"own": "", long: "", long + "x": "is too long by 1", "group": "has mode 0750",
		"file": "is not a directory", "none": "does not exist; make it with mkdir -p -m 700"} {
		if err := Check(path(name)); says == "" && err != nil || says != "" && (err == nil || !strings.HasPrefix(err.Error(), path(name)+" "+says)) {
			t.Errorf("%s: %v, want %q", name, err, says)
		}
	}
	// A process may get the id of a killed one, and then takes over its socket; it takes none that is in use.
	dead, err := net.Listen("unix", Path(path("own"), os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	dead.(*net.UnixListener).SetUnlinkOnClose(false)
	dead.Close()
	say := func(string, ...any) {}
	stop, err := Serve(path("own"), Rates{}, say)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Serve(path("own"), Rates{}, say); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Error(err)
	}
	stop()
	if left, err := os.ReadDir(path("own")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// Over TCP a browser can be led here under any name.
func TestOneRequestGivesAllKindsToThisMachineOnly(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ServeOn(ln, Rates{}, func(string, ...any) {})()
	ask := func(host, query string) *http.Response {
		q, err := http.NewRequest("GET", fmt.Sprintf("http://%s%s?%s", ln.Addr(), Window, query), nil)
		if err != nil {
			t.Fatal(err)
		}
		q.Host = host
		r, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, c := range []struct {
		host, query string
		want        int
	}{{"rebound.example:80", "seconds=1", 403}, {"192.0.2.1", "seconds=1", 403}, {"LocalHost:1", "seconds=0", 400}, {"[::1]:1", "seconds=601", 400},
		{"127.0.0.1", "seconds=1&at=9000000000000000000", 400}} {
		r := ask(c.host, c.query)
		if r.Body.Close(); r.StatusCode != c.want {
			t.Errorf("%s: %s: status %d, want %d", c.host, c.query, r.StatusCode, c.want)
		}
	}
	r := ask("localhost", "seconds=1")
	defer r.Body.Close()
	var names []string
	for in := tar.NewReader(r.Body); ; {
		h, err := in.Next()
		if err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		names = append(names, strings.TrimSuffix(h.Name, ".pb.gz"))
	}
	if want := strings.Fields("begin/mutex begin/block begin/heap begin/goroutine end/cpu end/mutex end/block end/heap"); !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
}
