package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const (
	simple = "GET /simple HTTP/1.1\r\nHost: x\r\n\r\n"
	read1  = "GET /read HTTP/1.1\r\nHost: x\r\n\r\n"
)

// exchanges are what a client sends, the codes that it is answered with, and whether the
// server ends the connection.
var exchanges = []struct {
	text  string
	codes []int
	ends  bool
}{
	{simple + read1 + "GET /no HTTP/1.1\r\nHost: x\r\n\r\n", []int{200, 200, 404}, false},
	{"\r\n" + simple + "\r\n" + simple, []int{200, 200}, false},
	{"\r\n\r\n" + simple, []int{400}, true},
	{"GET /simple HTTP/1.0\r\n\r\n" + simple, []int{200}, true},
	{"GET /simple HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + simple, []int{200, 200}, false},
	{"GET /simple HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" + simple, []int{200}, true},
	{"POST /simple HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello" + simple, []int{405, 200}, false},
	{"DELETE /no HTTP/1.1\r\nHost: x\r\n\r\n" + simple, []int{404, 200}, false},
	{"GET /simple HTTP/1.1\r\nHost: x\r\nContent-Length: 40\r\n\r\n" + "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n12345" +
		simple, []int{200, 200}, false},
	{"GET /simple HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5;a\r\nhello\r\n0\r\nA: b\r\n\r\n" + simple,
		[]int{200, 200}, false},
	{"GET /simple HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello!\r\n" + simple, []int{400}, true},
	{simple + "GET /simple HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" +
		simple, []int{200, 400}, true},
	{"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n" + "OPTIONS /simple HTTP/1.1\r\nHost: x\r\n\r\n", []int{200, 405}, false},
	{"BREW /simple HTTP/1.1\r\nHost: x\r\n\r\n" + "BREW /no HTTP/1.1\r\nHost: x\r\n\r\n" + simple, []int{501, 501, 200},
		false},
	{"CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n" + simple, []int{405}, true},
	{"GET http://h/simple?q HTTP/1.1\r\nHost: x\r\n\r\n", []int{200}, false},
	{"GET /%73imple HTTP/1.1\r\nHost: x\r\n\r\n", []int{200}, false},
	{"GET /simple HTTP/3.0\r\nHost: x\r\n\r\n", []int{505}, true},
	{"GET /simple HTTP/1.1\r\nHost: x\r\nContent-Length: 5000000\r\n\r\n", []int{413}, true},
	{"GET /simple HTTP/1.1\r\nHost: x\r\nExpect: more\r\n\r\n", []int{417}, true},
	{"GET /simple HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("X: y\r\n", 100), []int{431}, true},
}

// Each exchange goes the same way however the client's bytes are cut in two, and when they
// come one by one.
func TestEveryCut(t *testing.T) {
	r := newRig(t, nil)
	for _, x := range exchanges {
		whole := r.connect(unix.SOCK_STREAM)
		whole.say(x.text)
		want, ended := whole.hears()
		if codes, _ := codesIn(t, want); !slices.Equal(codes, x.codes) || ended != x.ends {
			t.Fatalf("%q: %v, ends: %v; want %v, %v", x.text, codes, ended, x.codes, x.ends)
		}
		whole.close()
		check := func(p *peer, how string) {
			t.Helper()
			if got, ended := p.hears(); got != want || ended != x.ends {
				t.Fatalf("%q %s:\n%q, ends: %v\nat once\n%q, %v", x.text, how, got, ended, want, x.ends)
			}
			p.close()
		}
		for cut := 1; cut < len(x.text); cut++ {
			p := r.connect(unix.SOCK_STREAM)
			p.say(x.text[:cut])
			p.say(x.text[cut:])
			check(p, fmt.Sprintf("cut at %d", cut))
		}
		p := r.connect(unix.SOCK_STREAM)
		for i := range len(x.text) {
			p.say(x.text[i : i+1])
		}
		check(p, "by bytes")
	}
}

// The answers of one read are one write, in order, if they are not many.
func TestPipelines(t *testing.T) {
	r := newRig(t, nil)
	for n := 1; n <= 64; n++ {
		for _, route := range []string{"/simple", "/read"} {
			text := strings.Repeat("GET "+route+" HTTP/1.1\r\nHost: x\r\n\r\n", n)
			p := r.connect(unix.SOCK_STREAM)
			if n <= 64 && route == "/simple" || n <= 8 {
				p.close()
				p = r.connect(unix.SOCK_SEQPACKET)
			}
			if _, err := unix.Write(p.fd, []byte(text)); err != nil {
				t.Fatal(err)
			}
			p.turn(p.c, unix.EPOLLIN)
			in := make([]byte, 1<<20)
			var all []byte
			for len(p.c.owed) > 0 || len(all) == 0 {
				k, err := unix.Read(p.fd, in)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, in[:k]...)
				p.turns(unix.EPOLLOUT)
			}
			rest, _ := p.hears()
			if codes, bodies := codesIn(t, string(all)+rest); len(codes) != n || len(bodies) != n || slices.Max(codes) != 200 {
				t.Fatalf("%d of %s: %v", n, route, codes)
			}
			if rest != "" && (route == "/simple" || n <= 8) {
				t.Errorf("%d of %s take more than one write", n, route)
			}
			p.close()
		}
	}
	// Different requests are answered in their order.
	p := r.connect(unix.SOCK_STREAM)
	p.say(strings.Repeat(simple+read1+"HEAD /read HTTP/1.1\r\nHost: x\r\n\r\n"+"PUT / HTTP/1.1\r\nHost: x\r\n\r\n", 5))
	got, _ := p.hears()
	want := fmt.Sprintf("Content-Length: %d\r\n\r\n", len(pool().Body(7)))
	if n := strings.Count(got, `{"message":"hi"}HTTP/1.1 200 OK`); n != 5 ||
		strings.Count(got, want+string(pool().Body(7))+"HTTP/1.1 200 OK") != 5 ||
		strings.Count(got, want+"HTTP/1.1 404 Not Found") != 5 {
		t.Errorf("out of order: %d, %.2000q", n, got)
	}
}

// No request allocates memory.
func TestRequestsAllocateNothing(t *testing.T) {
	r := newRig(t, nil)
	in := make([]byte, 1<<20)
	for _, text := range []string{
		simple, read1, simple + read1 + simple,
		"HEAD /read-gz HTTP/1.1\r\nHost: x\r\n\r\n", "GET /no HTTP/1.1\r\nHost: x\r\n\r\n",
		"POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello",
		"POST /read HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
	} {
		p := r.connect(unix.SOCK_STREAM)
		request := []byte(text)
		n := testing.AllocsPerRun(50, func() {
			for _, half := range [][]byte{request[:20], request[20:]} {
				_, _ = unix.Write(p.fd, half)
				r.look()
				r.turn(p.c, unix.EPOLLIN)
			}
			_, _ = unix.Read(p.fd, in)
		})
		if n > 0 {
			t.Errorf("%q: %v allocations", text, n)
		}
		p.close()
	}
}

// A client that sends without reading is not read any more, and costs a bounded amount of
// memory. When it reads, it gets everything.
func TestWhoDoesNotReadIsNotRead(t *testing.T) {
	r := newRig(t, nil)
	p := r.connect(unix.SOCK_STREAM)
	_ = unix.SetsockoptInt(p.fd, unix.SOL_SOCKET, unix.SO_SNDBUF, 8<<10)
	batch := []byte(strings.Repeat(read1, 39) + "GET /list HTTP/1.1\r\nHost: x\r\n\r\n")
	sent := 0
	for range 10_000 {
		n, err := unix.Write(p.fd, batch[sent%len(batch):])
		if err == unix.EAGAIN {
			break
		}
		sent += n
		p.turns(unix.EPOLLIN)
		if kept := len(p.c.owed); kept > mostQueued+200_000 || len(p.c.rest) > inputSize {
			t.Fatalf("%d bytes of answers and %d of requests are kept", kept, len(p.c.rest))
		}
	}
	if p.c.phase != writing || sent > 2<<20 {
		t.Fatalf("after %d bytes: phase %d", sent, p.c.phase)
	}
	whole := sent / len(batch) * 40
	var got strings.Builder
	for {
		text, _ := p.hears()
		if text == "" {
			break
		}
		got.WriteString(text)
		p.turns(unix.EPOLLOUT)
	}
	if codes, _ := codesIn(t, got.String()); len(codes) < whole || len(codes) > whole+40 || slices.Max(codes) != 200 {
		t.Errorf("%d answers to %d bytes, of which %d requests", len(codes), sent, whole)
	}
	if p.c.owed != nil || p.c.phase == writing {
		t.Error("memory for answers is kept")
	}
}

// A client that takes too long loses its connection: before its request without a word, in
// a request with one.
func TestTimes(t *testing.T) {
	d := defaults.times
	const body = "POST /simple HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n"
	for _, c := range []struct {
		name, text string
		time       time.Duration
		more       string // comes every second, and does not help
		says       int
	}{
		{"idle at once", "", d.idle, "", 0},
		{"idle after an answer", simple, d.idle, "", 0},
		{"half a head", "GET /simple HTTP/1.1\r\n", d.head, "", 408},
		{"a slow head", "GET /simple HTTP/1.1\r\nX: ", d.head, "y", 408},
		{"half a body", body + "hell", d.body, "", 408},
		{"a slow body", strings.Replace(body, "5", "500", 1), d.body, "x", 408},
	} {
		r := newRig(t, nil)
		p := r.connect(unix.SOCK_STREAM)
		if c.text != "" {
			p.say(c.text)
			p.hears()
		}
		steps := int(c.time / time.Second)
		for i := range steps {
			r.now += time.Second - time.Duration(i/(steps-1))
			r.expire()
			if p.c.fd < 0 || p.c.phase == lingering {
				t.Fatalf("%s: given up after %d s of %v", c.name, i+1, c.time)
			}
			if c.more != "" {
				p.say(c.more)
			}
		}
		r.now += 2
		r.expire()
		text, ended := p.hears()
		if codes, _ := codesIn(t, text); !ended || c.says == 0 && text != "" || c.says > 0 &&
			!slices.Equal(codes, []int{c.says}) {
			t.Errorf("%s: %q, ended: %v", c.name, text, ended)
		}
		// The connection is closed at last, whatever the client does.
		r.now += lingerTime + 1
		r.expire()
		if p.c.fd >= 0 || r.open != 0 {
			t.Errorf("%s: still open", c.name)
		}
	}
}

// A client that reads slowly keeps its connection, and one that does not read at all loses
// it.
func TestTimeOfAnswers(t *testing.T) {
	r := newRig(t, nil)
	p := r.connect(unix.SOCK_STREAM)
	p.say(strings.Repeat(read1, 400))
	in := make([]byte, 64<<10)
	for range 3 {
		r.now += defaults.times.write
		r.expire()
		if _, err := unix.Read(p.fd, in); err != nil || p.c.phase != writing {
			t.Fatalf("phase %d, %v", p.c.phase, err)
		}
		p.turns(unix.EPOLLOUT)
	}
	r.now += defaults.times.write + 1
	r.expire()
	if p.c.fd >= 0 {
		t.Error("still open")
	}
}

// An interim answer is sent only to a client that waits for it.
func TestContinue(t *testing.T) {
	r := newRig(t, nil)
	const head = "GET /simple HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"
	p := r.connect(unix.SOCK_STREAM)
	p.say(head)
	if text, _ := p.hears(); text != "HTTP/1.1 100 Continue\r\n\r\n" {
		t.Errorf("%q", text)
	}
	p.say("hello")
	if text, _ := p.hears(); !strings.HasPrefix(text, "HTTP/1.1 200 OK\r\n") {
		t.Errorf("%q", text)
	}
	p.say(head + "hello")
	if text, _ := p.hears(); !strings.HasPrefix(text, "HTTP/1.1 200 OK\r\n") {
		t.Errorf("of a body that is there: %q", text)
	}
	p.say(strings.Replace(head, ": 5", ": 5000000", 1))
	if text, ended := p.hears(); !strings.HasPrefix(text, "HTTP/1.1 413 ") || !ended {
		t.Errorf("of a body that is too long: %q, %v", text, ended)
	}
}

// What stands in the heads of answers other than the usual ones.
func TestHeadsOfAnswers(t *testing.T) {
	r := newRig(t, nil)
	for _, c := range []struct {
		text, has, not string
	}{
		{"PUT /simple HTTP/1.1\r\nHost: x\r\n\r\n", "\r\nAllow: GET, HEAD\r\n", "Connection:"},
		{"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", "\r\nAllow: GET, HEAD\r\nContent-Length: 0\r\n\r\n", "Content-Type:"},
		{"GET /simple HTTP/1.0\r\n\r\n", "HTTP/1.1 200 OK\r\nDate: ", "keep-alive"},
		{"GET /simple HTTP/1.0\r\n\r\n", "\r\nConnection: close\r\n", "keep-alive"},
		{"GET /simple HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "\r\nConnection: keep-alive\r\n", "close"},
		{"HEAD /no HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 404 Not Found\r\n", "{"},
		{"x\r\n", "\r\nConnection: close\r\n", "Allow"},
	} {
		p := r.connect(unix.SOCK_STREAM)
		p.say(c.text)
		if text, _ := p.hears(); !strings.Contains(text, c.has) || strings.Contains(text, c.not) ||
			!strings.Contains(text, "\r\nDate: ") {
			t.Errorf("%q: %q", c.text, text)
		}
		p.close()
	}
}

// However bytes are cut, the same is answered, and the connection ends or does not.
func FuzzConn(f *testing.F) {
	for _, x := range exchanges {
		f.Add([]byte(x.text), len(x.text)/2)
	}
	shared := newRig(f, nil)
	f.Fuzz(func(t *testing.T, in []byte, cut int) {
		r := &rig{t, shared.loop, shared.scratch}
		in = in[:min(len(in), 20_000)] // what a socket takes at once
		cut = max(min(cut, len(in)), 0)
		whole, parts := r.connect(unix.SOCK_STREAM), r.connect(unix.SOCK_STREAM)
		whole.say(string(in))
		parts.say(string(in[:cut]))
		if parts.c.phase != lingering {
			parts.say(string(in[cut:]))
		}
		var got [2]string
		var ended [2]bool
		for i, p := range []*peer{whole, parts} {
			for len(got[i]) == 0 || p.c.phase == writing {
				text, end := p.hears()
				got[i], ended[i] = got[i]+text, end
				if text == "" {
					break
				}
				p.turns(unix.EPOLLOUT)
			}
			got[i] = strings.ReplaceAll(got[i], "HTTP/1.1 100 Continue\r\n\r\n", "") // is not sent if the body is there
		}
		if got[0] != got[1] && !strings.Contains(string(in), "/compute") || ended[0] != ended[1] {
			t.Fatalf("%q cut at %d:\n%q, ended: %v\nat once\n%q, %v", in, cut, got[1], ended[1], got[0], ended[0])
		}
		for _, p := range []*peer{whole, parts} {
			p.close()
			p.turns(unix.EPOLLIN | unix.EPOLLRDHUP)
			if p.c.fd >= 0 && p.c.phase != writing {
				t.Fatalf("%q: the connection stays when the client has gone", in)
			}
		}
	})
}

// The date is written anew when its second is over, and only its bytes change.
func TestDate(t *testing.T) {
	r := newRig(t, nil)
	ask := func() string {
		p := r.connect(unix.SOCK_STREAM)
		p.say(simple)
		text, _ := p.hears()
		return text
	}
	r.setDate(time.Unix(1e9, 0))
	old := ask()
	if !strings.Contains(old, "\r\nDate: Sun, 09 Sep 2001 01:46:40 GMT\r\n") {
		t.Errorf("%q", old)
	}
	r.redate = r.now + time.Hour
	if r.look(); ask() != old {
		t.Error("the date changed before its time")
	}
	r.redate = 0
	before := time.Now().Truncate(time.Second)
	r.look()
	date, _, _ := strings.Cut(strings.TrimPrefix(ask(), beforeDate), "\r\n")
	now, err := time.Parse(time.RFC1123, date)
	if err != nil || now.Before(before) || now.After(time.Now()) || r.redate <= r.now-time.Second {
		t.Errorf("%v, %v, again in %v", now, err, r.redate-r.now)
	}
}
