package main

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/answer"
	"github.com/line-rate/line-rate/lab/internal/program/programtest"
	"github.com/line-rate/line-rate/lab/server/catalog"
	"github.com/line-rate/line-rate/lab/server/catalog/contract"
)

// pool is made once: it is read-only, and making it is slow under -race.
var pool = sync.OnceValue(func() *catalog.Pool {
	p, err := catalog.NewPool(catalog.Seed)
	if err != nil {
		panic(err)
	}
	return p
})

const (
	simple = "GET /simple HTTP/1.1\r\nHost: x\r\n\r\n"
	read1  = "GET /read HTTP/1.1\r\nHost: x\r\n\r\n"
	list   = "GET /list HTTP/1.1\r\nHost: x\r\n\r\n"
)

// A serving is a server in this process.
type serving struct {
	t     *testing.T
	addr  string
	srv   *server
	ended chan error
}

// serve serves on a free port, for the duration of the test.
func serve(t *testing.T, flags ...string) *serving {
	t.Helper()
	s, err := parse("floor_server", append([]string{"--workers", "1"}, flags...))
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	// The loops keep theirs while they wait, and the test needs some too.
	before := runtime.GOMAXPROCS(s.workers + 2)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	v := &serving{t: t, addr: ln.Addr().String(), ended: make(chan error, 1)}
	if v.srv, err = newServer(s, ln.(*net.TCPListener), pool()); err != nil {
		t.Fatal(err)
	}
	go func() { v.ended <- v.srv.serve() }()
	t.Cleanup(v.stop)
	return v
}

// stop stops the server and waits for its end. It may be called twice.
func (v *serving) stop() {
	v.t.Helper()
	if v.ended == nil {
		return
	}
	v.srv.leaving.Store(true)
	select {
	case err := <-v.ended:
		if err != nil {
			v.t.Errorf("serve: %v", err)
		}
	case <-time.After(programtest.Patience):
		v.t.Error("the server does not stop")
	}
	v.ended = nil
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

// A heard is what a client is told.
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

// ask sends one text, and gives the codes of all that is answered until the connection ends.
func (v *serving) ask(text string) []int {
	v.t.Helper()
	c := v.dial()
	c.say(text)
	_ = c.CloseWrite()
	return codes(v.t, c.ends())
}

func codes(t testing.TB, text string) (all []int) {
	t.Helper()
	r := bufio.NewReader(strings.NewReader(text))
	for {
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

// What the Fiber server must do on its routes, this one must, on one thread and on two; and with canned
// bytes what is said of those.
func TestContract(t *testing.T) {
	contract.Contract(t, answer.Fiber, serve(t).addr)
	contract.Contract(t, answer.Fiber, serve(t, "--workers", "2").addr)
	contract.Contract(t, answer.Null, serve(t, "--null").addr)
}

// exchanges are what a client sends, the codes that it is answered with, and something that stands in the
// answers.
var exchanges = []struct {
	text  string
	codes []int
	has   string
}{
	{simple + read1 + "GET /no HTTP/1.1\r\nHost: x\r\n\r\n", []int{200, 200, 404}, `{"error":"Not Found"}`},
	{"\r\n" + simple + "\r\n" + simple, []int{200, 200}, "HTTP/1.1 200 OK\r\nDate: "},
	{"\r\n\r\n" + simple, []int{400}, "\r\nConnection: close\r\n"},
	{"GET /simple HTTP/1.0\r\n\r\n" + simple, []int{200}, "\r\nConnection: close\r\n"},
	{"GET /simple HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + simple, []int{200, 200}, "\r\nConnection: keep-alive\r\n"},
	{"GET /simple HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" + simple, []int{200}, "\r\nConnection: close\r\n"},
	{"PUT /simple HTTP/1.1\r\nHost: x\r\n\r\n" + simple, []int{405, 200}, "\r\nAllow: GET, HEAD\r\n"},
	// A body is not read, so nothing in it is taken for a request.
	{"GET /simple HTTP/1.1\r\nHost: x\r\nContent-Length: 40\r\n\r\n" + simple + simple, []int{200}, "\r\nConnection: close\r\n"},
	{"POST /simple HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + simple, []int{405}, "\r\nConnection: close\r\n"},
	{"GET /simple HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", []int{400}, ""},
	{"GET /%73imple HTTP/1.1\r\nHost: x\r\n\r\n", []int{200}, catalog.Simple},
	{"GET /simple HTTP/3.0\r\nHost: x\r\n\r\n" + simple, []int{505}, ""},
}

// Each exchange goes the same way however the client's bytes are cut in two.
func TestExchanges(t *testing.T) {
	v := serve(t)
	for _, x := range exchanges {
		c := v.dial()
		c.say(x.text)
		_ = c.CloseWrite()
		if text := c.ends(); !slices.Equal(codes(t, text), x.codes) || !strings.Contains(text, x.has) {
			t.Errorf("%q: %q; want %v", x.text, text, x.codes)
		}
		whole, ended := inParts(x.text, len(x.text))
		for cut := range x.text {
			if got, end := inParts(x.text, cut); got != whole || end != ended {
				t.Fatalf("%q cut at %d:\n%q, ends: %v\nat once\n%q, %v", x.text, cut, got, end, whole, ended)
			}
		}
	}
}

// still is a source of one product.
type still int

func (s still) Next() int { return int(s) }
func (s still) Fill(dst []int) {
	for i := range dst {
		dst[i] = int(s)
	}
}

var answerer = sync.OnceValue(func() *answers {
	a := newAnswers(pool())
	a.src = still(7)
	return a
})

// inParts gives the answers to what comes in two parts, and whether the connection then ends.
func inParts(text string, cut int) (all string, ended bool) {
	a := *answerer()
	used, out, ended := a.answer([]byte(text[:cut]), nil, false)
	if !ended {
		_, out, ended = a.answer([]byte(text[used:]), out, false)
	}
	return string(out), ended
}

func FuzzAnswers(f *testing.F) {
	for _, x := range exchanges {
		f.Add(x.text, len(x.text)/2)
	}
	f.Fuzz(func(t *testing.T, text string, cut int) {
		text = text[:min(len(text), 20_000)]
		whole, ended := inParts(text, len(text))
		if got, end := inParts(text, max(min(cut, len(text)), 0)); got != whole || end != ended {
			t.Fatalf("%q cut at %d:\n%q, ends: %v\nat once\n%q, %v", text, cut, got, end, whole, ended)
		}
	})
}

// The answers of one read are one write, in order, if they are not many; and no request allocates memory.
func TestPipelines(t *testing.T) {
	for _, h := range []handler{newAnswers(pool()), newCanned(pool(), time.Now())} {
		h.tick(time.Unix(1e9, 0))
		text := []byte(strings.Repeat(simple+read1+"GET /no HTTP/1.1\r\nHost: x\r\n\r\n", 10))
		used, out, last := h.answer(text, nil, false)
		if got := codes(t, string(out)); used != len(text) || last || !slices.Equal(got, slices.Repeat([]int{200, 200, 404}, 10)) {
			t.Errorf("%d bytes, %v", used, got)
		}
		if _, is := h.(*answers); is && bytes.Count(out, []byte("\r\nDate: Sun, 09 Sep 2001 01:46:40 GMT\r\n")) != 30 {
			t.Error("not the date that it was told")
		}
		request := []byte(simple + read1 + "HEAD /read-gz HTTP/1.1\r\nHost: x\r\n\r\n")
		if n := testing.AllocsPerRun(50, func() { _, out, _ = h.answer(request, out[:0], false) }); n > 0 {
			t.Errorf("%v allocations", n)
		}
		if used, out, _ = h.answer(bytes.Repeat([]byte(read1), 1000), nil, false); used%len(read1) != 0 || len(out) > mostQueued+200_000 {
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
	for _, text := range []string{"GET / HTTP/1.1\nHost: x\n\n", "GET /simple HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
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

// At a stop, what has come is answered, requests that are read in part are answered when they are whole, and
// clients that never pause get every answer and are told to close. Who never finishes holds up nothing.
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
		v.srv.leaving.Store(true)
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
		if conn, err := net.Dial("tcp", v.addr); err == nil {
			conn.Close()
			t.Error("a connection is taken after the stop")
		}
	}
}

// held counts this process's descriptors.
func held(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// Whatever clients do, a server that has ended leaves no descriptor, no goroutine and no
// connection behind.
func TestNothingIsLeft(t *testing.T) {
	serve(t).stop() // what the first server of a process opens for good
	descriptors, goroutines := held(t), runtime.NumGoroutine()
	for _, workers := range []string{"1", "3"} {
		v := serve(t, "--workers", workers)
		var open []*client
		for i := range 60 {
			c := v.dial()
			switch i % 5 {
			case 0, 1:
				c.say([]string{simple, "nonsense\r\n\r\n"}[i%5])
				c.next()
			case 2:
				c.say("GET /simple HTTP/1.1\r\nHost")
			case 3:
				c.say(read1 + read1)
				_ = c.SetLinger(0) // breaks off
			}
			if i%2 == 0 {
				c.Close()
			} else {
				open = append(open, c)
			}
		}
		v.stop()
		for _, c := range open {
			c.Close()
		}
		for _, l := range v.srv.loops {
			if l.open != 0 {
				t.Errorf("%d connections are counted", l.open)
			}
		}
	}
	for end := time.Now().Add(programtest.Patience); held(t) > descriptors || runtime.NumGoroutine() > goroutines; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d descriptors, before %d; %d goroutines, before %d", held(t), descriptors,
				runtime.NumGoroutine(), goroutines)
		}
	}
}
