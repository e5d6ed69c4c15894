package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/answer"
	"github.com/line-rate/line-rate/lab/internal/program"
	"github.com/line-rate/line-rate/lab/internal/program/programtest"
	"github.com/line-rate/line-rate/lab/server/catalog/contract"
)

func TestMain(m *testing.M) { programtest.Main(m, map[string]string{"null_server": "."}) }

// start runs the server on a free port and returns its address.
func start(t *testing.T) (cmd *exec.Cmd, addr string) {
	t.Helper()
	return programtest.Start(t, programtest.Path("null_server"), "--addr", "127.0.0.1:0")
}

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.SetDeadline(time.Now().Add(programtest.Patience))
	t.Cleanup(func() { conn.Close() })
	return conn
}

const get = "GET /%s HTTP/1.1\r\nHost: x\r\n\r\n"

func next(t *testing.T, r *bufio.Reader) (int, string) {
	t.Helper()
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func TestAnswers(t *testing.T) {
	_, addr := start(t)
	for _, c := range []struct {
		request string
		code    int
	}{
		{fmt.Sprintf(get, "simple"), 200},
		{fmt.Sprintf(get, "read"), 200},
		{fmt.Sprintf(get, "simpler"), 404},
		{fmt.Sprintf(get, ""), 404},
		{"POST /simple HTTP/1.1\r\n\r\n", 405},
		{"\r\n\r\n", 405},
	} {
		conn := dial(t, addr)
		io.WriteString(conn, c.request)
		if code, _ := next(t, bufio.NewReader(conn)); code != c.code {
			t.Errorf("%q: status %d, want %d", c.request, code, c.code)
		}
	}
}

func TestContract(t *testing.T) {
	_, addr := start(t)
	contract.Contract(t, answer.Null, addr)
}

// However requests are cut into packets, each gets its answer, in order.
func TestPipelined(t *testing.T) {
	_, addr := start(t)
	requests := strings.Repeat(fmt.Sprintf(get, "simple")+fmt.Sprintf(get, "none")+fmt.Sprintf(get, "read"), 20)
	for _, size := range []int{len(requests), 1000, 33, 7} {
		conn := dial(t, addr)
		go func() {
			for rest := requests; rest != ""; {
				n := min(size, len(rest))
				if _, err := io.WriteString(conn, rest[:n]); err != nil {
					return // the reader sees the error too
				}
				rest = rest[n:]
				if size < len(requests) {
					time.Sleep(time.Millisecond)
				}
			}
		}()
		r := bufio.NewReader(conn)
		for i := range 60 {
			code, body := next(t, r)
			if want := []int{200, 404, 200}[i%3]; code != want || i%3 == 0 && body != `{"message":"hi"}` || i%3 == 2 &&
				len(body) < 4000 {
				t.Fatalf("by %d bytes, answer %d: status %d, %d bytes", size, i, code, len(body))
			}
		}
	}
}

// A client that sends and does not read has more answers coming than its socket holds. It
// gets all of them later, and makes no other client wait.
func TestSlowReader(t *testing.T) {
	_, addr := start(t)
	slow := dial(t, addr)
	const n = 20_000 // 90 MB of answers
	go io.WriteString(slow, strings.Repeat(fmt.Sprintf(get, "read"), n))
	other := dial(t, addr)
	r := bufio.NewReader(other)
	for range 100 {
		fmt.Fprintf(other, get, "simple")
		next(t, r)
		time.Sleep(time.Millisecond)
	}
	r = bufio.NewReader(slow)
	for i := range n {
		if code, body := next(t, r); code != 200 || len(body) < 4000 {
			t.Fatalf("answer %d: status %d, %d bytes", i, code, len(body))
		}
	}
}

func TestAHeadWithoutEnd(t *testing.T) {
	_, addr := start(t)
	conn := dial(t, addr)
	go conn.Write(bytes.Repeat([]byte("x"), 1<<20))
	if _, err := io.Copy(io.Discard, conn); err != nil && !strings.Contains(err.Error(), "reset") {
		t.Errorf("the connection was not closed: %v", err)
	}
	other := dial(t, addr)
	fmt.Fprintf(other, get, "simple")
	next(t, bufio.NewReader(other))
}

func TestExitStatuses(t *testing.T) {
	cmd, addr := start(t)
	comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", cmd.Process.Pid))
	if err != nil || string(comm) != "null_server\n" {
		t.Errorf("the process is called %q, %v", comm, err)
	}
	programtest.Calls{
		{[]string{"--addr", addr}, program.InUse, addr + " is already in use; stop the other server"},
		{[]string{"--addr", "192.0.2.1:80"}, program.Failure, "--addr"}, // an address reserved for documentation
		{[]string{"--addr", "8083"}, program.Refused, "give HOST:PORT"},
		{[]string{"--addr", ":http"}, program.Refused, "give HOST:PORT"},
		{[]string{"--prefork"}, program.Refused, "-prefork"},
		{[]string{"serve"}, program.Refused, `"serve"`},
		{[]string{"--help"}, program.OK, "/simple"},
	}.Check(t, programtest.Path("null_server"))
	conn := dial(t, addr) // an open connection does not keep the server from ending
	fmt.Fprintf(conn, get, "simple")
	next(t, bufio.NewReader(conn))
	_ = cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
}

// However the bytes are cut, the answers are the same, and only an incomplete head is
// left.
func FuzzReply(f *testing.F) {
	a, err := newAnswers(time.Now())
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(fmt.Sprintf(get, "simple")), 5)
	f.Add([]byte("GET /read \r\n\r\n\r\n\r\nGET"), 12)
	f.Fuzz(func(t *testing.T, in []byte, cut int) {
		whole, rest := a.reply(nil, in)
		if bytes.Contains(rest, endOfHead) || !bytes.HasSuffix(in, rest) {
			t.Errorf("%q is left of %q", rest, in)
		}
		if cut = min(max(cut, 0), len(in)); cut > 0 {
			first, left := a.reply(nil, in[:cut])
			both, last := a.reply(first, append(bytes.Clone(left), in[cut:]...))
			if !bytes.Equal(both, whole) || !bytes.Equal(last, rest) {
				t.Errorf("%q cut at %d: %d bytes of answers, whole %d", in, cut, len(both), len(whole))
			}
		}
	})
}
