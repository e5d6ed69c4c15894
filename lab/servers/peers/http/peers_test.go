package http

import (
	"bufio"
	"bytes"
	"errors"
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

	"github.com/line-rate/line-rate/lab/server/catalog"
	"github.com/line-rate/line-rate/lab/server/catalog/contract"
)

const (
	built = "../../../../.tools/peers" // where make peers puts programs and bodies
	// patience ends a test that would hang; it does not test speed.
	patience = 20 * time.Second
)

// The peers, and where one does other than the lab's servers.
var peers = []contract.Server{
	{Name: "gnet", GetOnly: true}, // its codec knows no other methods
	{Name: "hyper"},
	{Name: "axum"},
	{Name: "ntex"},
	// nginx cannot draw, answers return to any method, and sends two lines more.
	{Name: "nginx", Answers: "null", GetOnly: true, More: len("Server: nginx\r\nConnection: keep-alive\r\n")},
}

func TestPeers(t *testing.T) {
	for _, s := range peers {
		t.Run(s.Name, func(t *testing.T) {
			s.Addr = start(t, s.Name)
			s.Few = true
			if s.Answers == "" {
				s.Answers = "fiber"
			}
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
	_ = conn.SetDeadline(time.Now().Add(patience))
	go func() { // ends with the connection
		_, _ = io.WriteString(conn, strings.Repeat("GET /read HTTP/1.1\r\nHost: x\r\n\r\n", requests))
	}()
	seen := map[string]int{}
	r := bufio.NewReaderSize(conn, 1<<16)
	var body bytes.Buffer
	for i := range requests {
		a, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatalf("answer %d: %v", i+1, err)
		}
		body.Reset()
		if _, err := body.ReadFrom(a.Body); err != nil {
			t.Fatalf("answer %d: %v", i+1, err)
		}
		seen[body.String()]++
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
	out, err := command(s.Name, s.Addr).CombinedOutput()
	var status *exec.ExitError
	if !errors.As(err, &status) || status.ExitCode() != 3 {
		t.Errorf("%v, want exit status 3", err)
	}
	want := fmt.Sprintf("%s_server: %s is already in use; stop the other server or choose another with --addr\n", s.Name,
		s.Addr)
	if string(out) != want {
		t.Errorf("%q, want %q", out, want)
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
	// gnet cannot say which port it has been given.
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr = free.Addr().String()
	free.Close()

	c := command(name, addr)
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := make(chan string, 1)
	go func() {
		all := bufio.NewScanner(stderr)
		for all.Scan() {
			if strings.Contains(all.Text(), " listening addr=") {
				lines <- all.Text()
			}
		}
		close(lines)
	}()
	t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		late := time.AfterFunc(patience, func() { _ = c.Process.Kill() })
		defer late.Stop()
		for range lines { // Wait closes what they come from
		}
		if err := c.Wait(); err != nil {
			t.Errorf("after SIGTERM: %v", err)
		}
		if conn, err := net.Dial("tcp", addr); err == nil {
			conn.Close()
			t.Error("after SIGTERM: something still listens")
		}
	})
	select {
	case line := <-lines:
		if want := fmt.Sprintf("%s_server: listening addr=%s", name, addr); line != want {
			t.Fatalf("it says %q, want %q", line, want)
		}
	case <-time.After(patience):
		t.Fatal("it does not say that it listens")
	}
	return addr
}
