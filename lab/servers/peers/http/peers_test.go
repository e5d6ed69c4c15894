package http

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/program/programtest"
	"github.com/line-rate/line-rate/lab/server/catalog"
	"github.com/line-rate/line-rate/lab/server/catalog/contract"
)

const built = "../../../../.tools/peers" // where make peers puts programs and bodies

// The peers, and where one does other than the lab's servers.
var peers = []contract.Server{
	{Name: "gnet", Answers: "fiber", GetOnly: true}, // its codec knows no other methods
	{Name: "hyper", Answers: "fiber"},
	{Name: "axum", Answers: "fiber"},
	{Name: "ntex", Answers: "fiber"},
	// nginx cannot draw, answers return to any method, and sends two lines more.
	{Name: "nginx", Answers: "null", GetOnly: true, More: len("Server: nginx\r\nConnection: keep-alive\r\n")},
}

func TestPeers(t *testing.T) {
	for _, s := range peers {
		t.Run(s.Name, func(t *testing.T) {
			s.Addr, s.Few = start(t, s.Name), true
			s.Keeps(t)
			t.Run("draws", func(t *testing.T) { draws(t, s) })
			t.Run("in use", func(t *testing.T) { inUse(t, s) })
		})
	}
}

// draws makes so many requests that a body which is drawn evenly comes up with all but
// certainty (500 times e to the -20), and none that nginx would end a connection by
// default.
func draws(t *testing.T, s contract.Server) {
	const requests = 20 * catalog.Size
	conn, err := net.Dial("tcp", s.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(programtest.Patience))
	go func() { // ends with the connection
		_, _ = io.WriteString(conn, strings.Repeat("GET /read HTTP/1.1\r\nHost: x\r\n\r\n", requests))
	}()
	seen := map[string]int{}
	r := bufio.NewReaderSize(conn, 1<<16)
	for i := range requests {
		var body []byte
		a, err := http.ReadResponse(r, nil)
		if err == nil {
			body, err = io.ReadAll(a.Body)
		}
		if err != nil {
			t.Fatalf("answer %d: %v", i+1, err)
		}
		seen[string(body)]++
	}
	want := catalog.Size
	if s.Answers == "null" {
		want = 1
	}
	if len(seen) != want {
		t.Errorf("%d bodies, want %d", len(seen), want)
	}
	for b, n := range seen {
		if want > 1 && n > 5*requests/want {
			t.Errorf("%d of %d answers are %.60q", n, requests, b)
		}
	}
}

func inUse(t *testing.T, s contract.Server) {
	second := command(s.Name, s.Addr)
	out, _ := second.CombinedOutput()
	want := fmt.Sprintf("%s_server: %s is already in use; stop the other server or choose another with --addr\n", s.Name,
		s.Addr)
	if status := second.ProcessState.ExitCode(); status != 3 || string(out) != want {
		t.Errorf("exit status %d, %q; want 3 and %q", status, out, want)
	}
}

func command(name, addr string) *exec.Cmd {
	c := exec.Command(filepath.Join(built, name+"_server"), "--addr", addr, "--bodies", filepath.Join(built, "bodies"))
	if name == "nginx" {
		c.Args = append(c.Args, "--work", filepath.Join(built, "nginx"))
	}
	// With the test, even if it is killed.
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	return c
}

// start starts a peer that is built, and ends it with the test by SIGTERM, after which
// nothing may listen.
func start(t *testing.T, name string) (addr string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(built, name+"_server")); err != nil {
		t.Skipf("%s is not built; make peers builds it, if its tools are there", name)
	}
	addr = fmt.Sprintf("127.0.0.1:%d", programtest.FreePorts(t, 1)) // gnet cannot say which port it has been given
	c := command(name, addr)
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		late := time.AfterFunc(programtest.Patience, func() { _ = c.Process.Kill() })
		defer late.Stop()
		if err := c.Wait(); err != nil {
			t.Errorf("after SIGTERM: %v", err)
		}
		if conn, err := net.Dial("tcp", addr); err == nil {
			conn.Close()
			t.Error("after SIGTERM: something still listens")
		}
	})
	r, line := bufio.NewReader(stderr), ""
	for !strings.Contains(line, " listening addr=") {
		if line, err = r.ReadString('\n'); err != nil {
			t.Fatalf("%v, after %q", err, line)
		}
	}
	if want := fmt.Sprintf("%s_server: listening addr=%s\n", name, addr); line != want {
		t.Fatalf("it says %q, want %q", line, want)
	}
	go io.Copy(io.Discard, r)
	return addr
}
