package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/answer"
	"github.com/line-rate/line-rate/lab/internal/program"
	"github.com/line-rate/line-rate/lab/internal/program/programtest"
	"github.com/line-rate/line-rate/lab/server/catalog"
	"github.com/line-rate/line-rate/lab/server/catalog/contract"
	"github.com/line-rate/line-rate/lab/servers/floor/loop"
)

func TestMain(m *testing.M) {
	programtest.Main(m, map[string]string{"floor_server": ".", "null_server": "."})
}

const (
	simple = "GET /simple HTTP/1.1\r\nHost: x\r\n\r\n"
	read1  = "GET /read HTTP/1.1\r\nHost: x\r\n\r\n"
	list   = "GET /list HTTP/1.1\r\nHost: x\r\n\r\n"
	no     = "GET /no HTTP/1.1\r\nHost: x\r\n\r\n"
)

// A serving is a program that serves until the test ends.
type serving struct {
	t    *testing.T
	cmd  *exec.Cmd
	addr string
}

func start(t *testing.T, words ...string) *serving {
	t.Helper()
	cmd, addr := programtest.Start(t, words...)
	return &serving{t, cmd, addr}
}

// serve starts floor_server, with one thread unless flags say more.
func serve(t *testing.T, flags ...string) *serving {
	t.Helper()
	words := []string{programtest.Path("floor_server"), "--addr", "127.0.0.1:0", "--workers", "1"}
	return start(t, append(words, flags...)...)
}

// stop sends SIGTERM; the program has to end well.
func (v *serving) stop() {
	v.t.Helper()
	_ = v.cmd.Process.Signal(syscall.SIGTERM)
	if err := v.cmd.Wait(); err != nil {
		v.t.Errorf("after SIGTERM: %v", err)
	}
}

// behaves checks what all programs do. They refuse a wrong call in one line, end a connection whose
// head has no end, and end although a connection is open. The rest, more, are wrong calls of this
// program.
func (v *serving) behaves(more map[string]string) {
	v.t.Helper()
	calls := programtest.Calls{
		{[]string{"--addr", v.addr}, program.InUse, v.addr + " is already in use; stop the other server"},
		{[]string{"--addr", "192.0.2.1:80"}, program.Failure, "--addr"}, // an address reserved for documentation
		{[]string{"--addr", "8083"}, program.Refused, "as in 127.0.0.1:8083"},
		{[]string{"--prefork"}, program.Refused, "-prefork"},
		{[]string{"serve"}, program.Refused, "serve"},
		{[]string{"--help"}, program.OK, "/simple"},
	}
	for args, says := range more {
		calls = append(calls, programtest.Calls{{strings.Fields(args), program.Refused, says}}...)
	}
	calls.Check(v.t, v.cmd.Path)
	long := v.dial()
	go func() { _, _ = long.Write(bytes.Repeat([]byte("x"), 1<<20)) }() // ends with the connection
	if _, err := io.Copy(io.Discard, long); err != nil && !strings.Contains(err.Error(), "reset") {
		v.t.Errorf("a head without end: %v", err)
	}
	v.dial()
	v.stop()
}

// A client is a connection.
type client struct {
	t *testing.T
	*net.TCPConn
	r *bufio.Reader
}

func (v *serving) dial() *client {
	v.t.Helper()
	conn, err := net.Dial("tcp", v.addr)
	if err != nil {
		v.t.Fatal(err)
	}
	_ = conn.SetDeadline(time.Now().Add(programtest.Patience))
	v.t.Cleanup(func() { conn.Close() })
	return &client{v.t, conn.(*net.TCPConn), bufio.NewReaderSize(conn, 256<<10)}
}

func (c *client) say(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		c.t.Fatal(err)
	}
}

// A heard is what a client got.
type heard struct {
	code   int
	closes bool
	body   string
}

// next reads an answer.
func (c *client) next() heard {
	c.t.Helper()
	a, err := hear(c.r)
	if err != nil {
		c.t.Fatalf("no answer: %v", err)
	}
	return a
}

func hear(r *bufio.Reader) (heard, error) {
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		return heard{}, err
	}
	body, err := io.ReadAll(resp.Body)
	return heard{resp.StatusCode, resp.Close, string(body)}, err
}

// ends reads to the end of the connection, and says what it read.
func (c *client) ends() string {
	c.t.Helper()
	rest, err := io.ReadAll(c.r)
	if err != nil {
		c.t.Fatalf("the connection does not end properly: %v, after %.80q", err, rest)
	}
	return string(rest)
}

func codes(t testing.TB, text string) (all []int) {
	t.Helper()
	for r := bufio.NewReader(strings.NewReader(text)); ; {
		if _, err := r.Peek(1); err != nil {
			return all
		}
		a, err := hear(r)
		if err != nil {
			t.Fatalf("%v in %.200q", err, text)
		}
		all = append(all, a.code)
	}
}

// What the Fiber server must do on its routes, this one must, on one thread and on two.
func TestContract(t *testing.T) {
	contract.Contract(t, answer.Fiber, serve(t).addr)
	contract.Contract(t, answer.Fiber, serve(t, "--workers", "2").addr)
}

// Each exchange goes the same way however the client's bytes are cut in two.
func TestExchanges(t *testing.T) {
	v := serve(t)
	for _, x := range []struct {
		text  string
		codes []int
		has   string
	}{
		{simple + read1 + no, []int{200, 200, 404}, `{"error":"Not Found"}`},
		{"\r\n" + simple + "\r\n" + simple, []int{200, 200}, "HTTP/1.1 200 OK\r\nDate: "},
		{"\r\n\r\n" + simple, []int{400}, "\r\nConnection: close\r\n"},
		{"GET /simple HTTP/1.0\r\n\r\n" + simple, []int{200}, "\r\nConnection: close\r\n"},
		{"GET /simple HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + simple, []int{200, 200},
			"\r\nConnection: keep-alive\r\n"},
		{"GET /simple HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" + simple, []int{200}, "\r\nConnection: close\r\n"},
		{"PUT /simple HTTP/1.1\r\nHost: x\r\n\r\n" + simple, []int{405, 200}, "\r\nAllow: GET, HEAD\r\n"},
		// The server reads no body, so nothing in one becomes a request.
		{"GET /simple HTTP/1.1\r\nHost: x\r\nContent-Length: 40\r\n\r\n" + simple + simple, []int{200},
			"\r\nConnection: close\r\n"},
		{"POST /simple HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + simple, []int{405},
			"\r\nConnection: close\r\n"},
		{"GET /simple HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", []int{400},
			""},
		{"GET /%73imple HTTP/1.1\r\nHost: x\r\n\r\n", []int{200}, catalog.Simple},
		{"GET /simple HTTP/3.0\r\nHost: x\r\n\r\n" + simple, []int{505}, ""},
	} {
		for _, cut := range []int{0, 1, len(x.text) / 2, len(x.text) - 1} {
			c := v.dial()
			c.say(x.text[:cut])
			time.Sleep(time.Millisecond) // so that each part is likely to be read on its own
			c.say(x.text[cut:])
			_ = c.CloseWrite()
			if text := c.ends(); !slices.Equal(codes(t, text), x.codes) || !strings.Contains(text, x.has) {
				t.Errorf("%q, cut at %d: %q; want %v", x.text, cut, text, x.codes)
			}
		}
	}
}

// The server answers a pipeline in order, up to a limit, and no request allocates memory.
func TestPipelines(t *testing.T) {
	pool, err := catalog.NewPool(catalog.Seed)
	if err != nil {
		t.Fatal(err)
	}
	then := time.Unix(1e9, 0)
	for _, h := range []loop.Handler{newAnswers(pool), newCanned(pool, then)} {
		h.Tick(then)
		text := []byte(strings.Repeat(simple+read1+no, 10))
		used, out, last := h.Answer(nil, text, nil, false)
		got, dates := codes(t, string(out)), bytes.Count(out, []byte("\r\nDate: Sun, 09 Sep 2001 01:46:40 GMT\r\n"))
		if used != len(text) || last || dates != 30 || !slices.Equal(got, slices.Repeat([]int{200, 200, 404}, 10)) {
			t.Errorf("%d bytes, %d dates, %v", used, dates, got)
		}
		request := []byte(simple + read1 + "HEAD /read-gz HTTP/1.1\r\nHost: x\r\n\r\n")
		if n := testing.AllocsPerRun(50, func() { _, out, _ = h.Answer(nil, request, out[:0], false) }); n > 0 {
			t.Errorf("%v allocations", n)
		}
		used, out, _ = h.Answer(nil, bytes.Repeat([]byte(read1), 1000), nil, false)
		if used%len(read1) != 0 || len(out) > loop.MostQueued+200_000 {
			t.Errorf("%d bytes are answered with %d at once", used, len(out))
		}
	}
}

// A client that does not read makes no other wait, is not read, and gets all its answers when it reads.
func TestSlowReader(t *testing.T) {
	for _, flags := range [][]string{nil, {"--null"}} {
		v := serve(t, flags...)
		slow := v.dial()
		const n = 20_000 // 90 MB of answers
		sent := make(chan error, 1)
		go func() {
			_, err := io.WriteString(slow, strings.Repeat(read1, n))
			sent <- err
		}()
		for range 20 {
			c := v.dial()
			c.say(simple)
			c.next()
		}
		different := map[string]bool{}
		for i := range n {
			a := slow.next()
			if different[a.body] = true; a.code != 200 || len(a.body) < 4000 {
				t.Fatalf("answer %d: %d, %d bytes", i, a.code, len(a.body))
			}
		}
		if err := <-sent; err != nil || flags == nil && len(different) < catalog.Size*9/10 {
			t.Errorf("%v, %d different bodies", err, len(different))
		}
	}
}

// Who takes too long for a request, or reads nothing, loses the connection; who reads slowly does not.
func TestSlowClients(t *testing.T) {
	v := serve(t, "--timeout", "400ms")
	idle, half, slow, stuck := v.dial(), v.dial(), v.dial(), v.dial()
	half.say(simple + "GET /simple HTTP/1.1\r\nX: ")
	half.next()
	for _, c := range []*client{slow, stuck} {
		c.say(strings.Repeat(list, 300)) // 34 MB
	}
	for i := range 300 {
		time.Sleep(5 * time.Millisecond)
		_, _ = half.Write([]byte("y")) // does not help
		if a := slow.next(); a.code != 200 {
			t.Fatalf("answer %d: %d", i, a.code)
		}
	}
	if rest := idle.ends(); rest != "" {
		t.Errorf("%q", rest)
	}
	for _, c := range []*client{half, stuck} {
		_, err := io.Copy(io.Discard, c.r)
		if ne, ok := err.(net.Error); ok && ne.Timeout() {
			t.Error("a connection is still open")
		}
	}
}

// Answers reach clients that go on sending, and do not break with a reset.
func TestRefusalsReachClientsThatGoOn(t *testing.T) {
	v := serve(t)
	for _, text := range []string{"GET / HTTP/1.1\nHost: x\n\n",
		"GET /simple HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
		"PUT /simple HTTP/1.1\r\nHost: x\r\nContent-Length: 5000000\r\n\r\n"} {
		c := v.dial()
		c.say(text)
		for range 100 {
			c.say(strings.Repeat("x", 10_000))
		}
		_ = c.CloseWrite()
		if got := codes(t, c.ends()); len(got) != 1 {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// At a stop, the server answers what has come, waits for the rest of a request, and answers clients
// that never pause and asks them to close. Who never finishes holds up nothing.
func TestStop(t *testing.T) {
	for _, workers := range []string{"1", "3"} {
		v := serve(t, "--workers", workers)
		idle, head, stuck := v.dial(), v.dial(), v.dial()
		idle.say(simple)
		idle.next()
		head.say(simple + "GET /simple HTTP/1.1\r\nHo")
		head.next()
		stuck.say(strings.Repeat(list, 500))
		stuck.next()
		const clients = 12
		first, ended := make(chan bool, clients), make(chan error, clients)
		for range clients {
			c := v.dial()
			go func() {
				for n := 0; ; n++ {
					_, err := io.WriteString(c, read1)
					var a heard
					if err == nil {
						a, err = hear(c.r)
					}
					if n == 0 {
						first <- true
					}
					if err != nil || a.closes {
						ended <- err
						return
					}
				}
			}()
		}
		for range clients {
			<-first
		}
		_ = v.cmd.Process.Signal(syscall.SIGTERM)
		for range clients {
			if err := <-ended; err != nil {
				t.Errorf("a request got no answer: %v", err)
			}
		}
		head.say("st: x\r\n\r\n")
		if a := head.next(); a.code != 200 || !a.closes || head.ends() != "" {
			t.Errorf("%+v", a)
		}
		if rest := idle.ends(); rest != "" {
			t.Errorf("%q", rest)
		}
		v.stop()
	}
}

// A server that has no descriptors left answers those that it has taken, and takes others when some are free again.
func TestNoDescriptorsLeft(t *testing.T) {
	v := start(t, "sh", "-c", `ulimit -n 40; exec "$0" --addr 127.0.0.1:0 --workers 1 --timeout 100ms`,
		programtest.Path("floor_server"))
	var open []*client
	for range 60 {
		c := v.dial()
		c.say(simple)
		open = append(open, c)
	}
	// The first are idle at some time and make room for the others.
	for i, c := range open {
		if a := c.next(); a.code != 200 || a.body != catalog.Simple {
			t.Errorf("client %d: %+v", i, a)
		}
	}
	v.stop()
}

func TestProgram(t *testing.T) {
	dir, err := os.MkdirTemp("", "s") // mode 0700; t.TempDir's can be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	v := serve(t, "--workers", "2", "--pprof-sockets", dir)
	c := v.dial()
	c.say(simple)
	c.next() // so its threads run
	socket := http.Client{Timeout: programtest.Patience, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(dir, fmt.Sprintf("%d.sock", v.cmd.Process.Pid)))
		},
	}}
	resp, err := socket.Get("http://pprof/debug/pprof/goroutine?debug=1")
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	if !strings.Contains(string(text), "(*thread).run") {
		t.Errorf("not a profile of the server: %.200q", text)
	}
	v.behaves(map[string]string{"--workers 0": "whole number from 1", "--timeout 1": "as in 10s",
		"--pprof-sockets /dev/no": "make one with mkdir"})
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		t.Errorf("left: %v", entries)
	}
}

// Under its own name the program answers with canned bytes.
func TestNullServer(t *testing.T) {
	v := start(t, programtest.Path("null_server"), "--addr", "127.0.0.1:0")
	comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", v.cmd.Process.Pid))
	if err != nil || string(comm) != "null_server\n" {
		t.Errorf("the process is called %q, %v", comm, err)
	}
	contract.Contract(t, answer.Null, v.addr)
	c := v.dial()
	c.say(simple + "POST / HTTP/1.1\r\n\r\n" + "GET /simpler HTTP/1.1\r\n\r\n")
	if a, b, last := c.next(), c.next(), c.next(); a.body != catalog.Simple || b.code != 405 || last.code != 404 {
		t.Errorf("%+v, %+v, %+v", a, b, last)
	}
	v.behaves(nil)
}

// The C server answers with the same bytes, except for its date, and as many requests as come at once.
func TestServerInC(t *testing.T) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("there is no C compiler (cc)")
	}
	name, file := programtest.Path("c_floor"), programtest.Path("read.jsonl")
	if out, err := exec.Command(cc, "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-o", name,
		"c/c_floor.c").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	pool, err := catalog.NewPool(catalog.Seed)
	if err != nil {
		t.Fatal(err)
	}
	var bodies bytes.Buffer
	for i := range catalog.Size {
		bodies.Write(append(bytes.Clone(pool.Body(i)), '\n'))
	}
	if err := os.WriteFile(file, bodies.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	v := start(t, name, "--addr", "127.0.0.1:0", "--bodies", file)
	contract.Server{Addr: v.addr, Name: "c_floor", Answers: answer.Fiber, GetOnly: true, Few: true}.Keeps(t)
	const round = simple + read1 + no + "PUT /simple HTTP/1.1\r\n\r\n" + "GET /simpler HTTP/1.1\r\n\r\n"
	for _, part := range []int{1 << 20, 1000, 7} {
		rounds := 2000 // more than fit one write
		if part < 1<<20 {
			rounds = 5
		}
		c := v.dial()
		go func() { // ends with the connection
			for text := range slices.Chunk([]byte(strings.Repeat(round, rounds)), part) {
				if _, err := c.Write(text); err != nil {
					return
				}
				time.Sleep(time.Millisecond)
			}
			_ = c.CloseWrite()
		}()
		for i := range rounds * 5 {
			a := c.next()
			if a.code != []int{200, 200, 404, 405, 404}[i%5] || i%5 == 0 && a.body != catalog.Simple {
				t.Fatalf("by %d bytes, answer %d: %d, %.80q", part, i, a.code, a.body)
			}
		}
		if rest := c.ends(); rest != "" {
			t.Errorf("behind the last answer: %.80q", rest)
		}
	}
	v.behaves(map[string]string{"--bodies /dev/null": "no line", "--bodies /dev/no": "No such file",
		"--bodies": "has no value", "--addr localhost:1": "IPv4", "--workers 2": "one thread"})
}
