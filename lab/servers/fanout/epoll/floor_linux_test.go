package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/program/programtest"
	"github.com/line-rate/line-rate/lab/servers/fanout/hub"
)

func TestMain(m *testing.M) {
	programtest.Main(m, map[string]string{"fanout_floor": ".", "fanout_server": ".."})
}

// serve runs a loop until the test ends.
func serve(t *testing.T, topics int) (url string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l, err := newLoop(ln.(*net.TCPListener), topics)
	if err != nil {
		t.Fatal(err)
	}
	var over atomic.Bool
	ended := make(chan error, 1)
	go func() {
		for err = nil; err == nil && !over.Load(); err = l.round(1) {
		}
		ended <- err
	}()
	t.Cleanup(func() {
		over.Store(true)
		if err := <-ended; err != nil {
			t.Errorf("the loop ended: %v", err)
		}
		for _, c := range l.conns {
			if c != nil {
				l.drop(c)
			}
		}
		ln.Close()
	})
	return "http://" + ln.Addr().String()
}

func like(t *testing.T, url string, post int) {
	t.Helper()
	answer, err := http.Post(fmt.Sprintf("%s/like/%d", url, post), "", nil)
	if err != nil {
		t.Error(err)
		return
	}
	io.Copy(io.Discard, answer.Body)
	answer.Body.Close()
	if answer.StatusCode != http.StatusNoContent {
		t.Errorf("a like was answered with %s", answer.Status)
	}
}

// ledger reads it, with no field that is not known.
func ledger(t *testing.T, url string) (l hub.Told) {
	t.Helper()
	answer, err := http.Get(url + "/ledger")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	d := json.NewDecoder(answer.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil || answer.Header.Get("Content-Type") != "application/json" {
		t.Fatal(err, answer.Header)
	}
	if l.UnderWay() < 0 {
		t.Errorf("the places do not add up: %+v", l)
	}
	return l
}

// until reads the ledger until it is as wanted.
func until(t *testing.T, url string, want func(hub.Told) bool) (l hub.Told) {
	t.Helper()
	for range 10_000 {
		if l = ledger(t, url); want(l) {
			return l
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("the ledger stays so: %+v", l)
	return l
}

func quiet(l hub.Told) bool { return l.UnderWay() == 0 }

// dial opens a stream by hand, whose head has come.
func dial(t *testing.T, url string, post int) (net.Conn, *bufio.Reader) {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(programtest.Patience))
	fmt.Fprintf(c, "GET /events/%d HTTP/1.1\r\nHost: x\r\n\r\n", post)
	r := bufio.NewReader(c)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if line == "\r\n" {
			return c, r
		}
	}
}

var event = regexp.MustCompile(`^id: (\d+)\ndata: \{"post":(\d+),"likes":(\d+),"at":\d{19}\}\n\n$`)

// next reads an event, and gives its number, which its count has as well.
func next(t *testing.T, r *bufio.Reader) (id int64) {
	t.Helper()
	var text string
	for range 3 {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err, text)
		}
		text += line
	}
	found := event.FindStringSubmatch(text)
	if found == nil || found[1] != found[3] {
		t.Fatalf("%q is no event", text)
	}
	fmt.Sscan(found[1], &id)
	return id
}

// Both servers are given the same likes, and what they answer differs in times only.
func TestItSaysWhatTheServerSays(t *testing.T) {
	var said []string
	for _, name := range []string{"fanout_floor", "fanout_server"} {
		_, addr := programtest.Start(t, programtest.Path(name), "--addr", "127.0.0.1:0", "--topics", "4")
		url := "http://" + addr
		answer, err := http.Get(url + "/events/3")
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text := fmt.Sprintln(answer.Status, answer.Header.Get("Content-Type"), answer.Header.Get("Cache-Control"))
		for range 3 {
			like(t, url, 3)
		}
		like(t, url, 2)
		lines := bufio.NewScanner(answer.Body)
		for range 9 {
			lines.Scan()
			text += regexp.MustCompile(`"at":\d{19}}`).ReplaceAllString(lines.Text(), `"at":`) + "\n"
		}
		until(t, url, quiet)
		for _, path := range []string{"/ledger", "/like/3", "/events/4", "/events/-1", "/events/x", "/other"} {
			answer, err := http.Get(url + path)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(answer.Body)
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				text += regexp.MustCompile(`"resident_bytes":\d{6,}`).ReplaceAllString(string(body), "resident") + answer.Header.Get("Content-Type")
			}
			text += fmt.Sprintln(path, answer.StatusCode/100)
		}
		said = append(said, text)
	}
	if said[0] != said[1] {
		t.Errorf("the floor:\n%s\nthe server:\n%s", said[0], said[1])
	}
}

// A reader that stops has all that was begun, then the events from when it read on:
// each as a whole, in order, and as many as the ledger says.
func TestAReaderThatStops(t *testing.T) {
	url := serve(t, 1)
	c, r := dial(t, url, 0)
	_ = c.(*net.TCPConn).SetReadBuffer(4 << 10)
	likes(t, url, 64, func() bool { return ledger(t, url).Subscriber >= 100 })
	l := ledger(t, url)
	if l.UnderWay() > 1 || l.Due != l.Likes {
		t.Errorf("%+v", l)
	}
	_ = c.(*net.TCPConn).SetReadBuffer(1 << 20) // with little room the kernel would take seconds
	// What it now gets is all that was due and not lost, and then one more.
	var last, got int64
	for ; got < l.Due-l.Subscriber; got++ {
		id := next(t, r)
		if id <= last {
			t.Fatalf("%d after %d", id, last)
		}
		last = id
	}
	if last >= l.Likes {
		t.Errorf("the last was %d, though the later ones of %d were lost", last, l.Likes)
	}
	until(t, url, quiet)
	like(t, url, 0)
	if id := next(t, r); id != l.Likes+1 {
		t.Errorf("%d after %d likes", id, l.Likes)
	}
	if now := until(t, url, quiet); now.Written != got+1 || now.Subscriber != l.Subscriber || now.Left+now.Socket != 0 {
		t.Errorf("%+v, of which %d came", now, got+1)
	}
}

// likes gives likes to the first post, so many in one packet, until it is enough.
func likes(t *testing.T, url string, together int, enough func() bool) {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r := bufio.NewReader(c)
	for n := 0; n < 2000 && !enough(); n++ {
		for range 20 {
			fmt.Fprint(c, strings.Repeat("POST /like/0 HTTP/1.1\r\nHost: x\r\n\r\n", together))
			for range together {
				answer, err := http.ReadResponse(r, nil)
				if err != nil || answer.StatusCode != http.StatusNoContent {
					t.Fatal(answer, err)
				}
			}
		}
	}
}

// One that stops and goes takes what waited with it.
func TestAReaderThatStopsAndGoes(t *testing.T) {
	url := serve(t, 1)
	c, _ := dial(t, url, 0)
	_ = c.(*net.TCPConn).SetReadBuffer(4 << 10)
	likes(t, url, 1, func() bool { return ledger(t, url).Subscriber > 0 })
	before := ledger(t, url)
	_ = c.(*net.TCPConn).SetLinger(0)
	c.Close()
	l := until(t, url, func(l hub.Told) bool { return quiet(l) && l.Shards[0] == 0 })
	if l.Left+l.Socket+l.Written-before.Written != before.UnderWay() {
		t.Errorf("%+v, and then %+v", before, l)
	}
}

// A write to a reader that has reset its connection fails, if that is before epoll tells of it; the events
// of the write are lost at the socket, and nobody else loses any.
func TestAWriteThatFails(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	l, err := newLoop(ln.(*net.TCPListener), 1)
	if err != nil {
		t.Fatal(err)
	}
	var readers []net.Conn
	for range 3 {
		c, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprint(c, "GET /events/0 HTTP/1.1\r\nHost: x\r\n\r\n")
		readers = append(readers, c)
	}
	for range 1000 {
		if err := l.round(1); err != nil {
			t.Fatal(err)
		}
	}
	for range mostTogether {
		l.like(&l.posts[0], 0)
	}
	if len(l.posts[0].readers) != 3 || l.Written != 3*mostTogether {
		t.Fatalf("as many events as may go together wait for others: %+v", l.Ledger)
	}
	_ = readers[1].(*net.TCPConn).SetLinger(0)
	readers[1].Close()
	for range 1000 {
		if l.Socket > 0 {
			break
		}
		l.like(&l.posts[0], 0)
		l.like(&l.posts[0], 0)
		l.deliver(&l.posts[0])
	}
	if l.Socket != 2 || l.Left != 0 || l.Due != l.Written+2 || len(l.posts[0].readers) != 2 {
		t.Errorf("%+v, with %d readers", l.Ledger, len(l.posts[0].readers))
	}
}

// Readers come and go, in all ways, while there are likes; others that stay miss nothing.
func TestReadersComeAndGo(t *testing.T) {
	url := serve(t, 2)
	const n = 300
	var all sync.WaitGroup
	for range 3 {
		_, r := dial(t, url, 1)
		all.Go(func() {
			for id := int64(1); id <= n; id++ {
				if got := next(t, r); got != id {
					t.Errorf("%d is where %d should be", got, id)
					return
				}
			}
		})
	}
	for way := range 3 {
		all.Go(func() {
			for range 60 {
				c, r := dial(t, url, 1)
				switch way {
				case 0:
					c.(*net.TCPConn).SetLinger(0)
				case 1:
					c.(*net.TCPConn).CloseWrite()
					io.Copy(io.Discard, r) // the server closes
				}
				c.Close()
			}
		})
	}
	for range 4 {
		all.Go(func() {
			for range n / 4 {
				like(t, url, 1)
				like(t, url, 0)
			}
		})
	}
	all.Wait()
	l := until(t, url, func(l hub.Told) bool { return quiet(l) && l.Shards[0] == 3 })
	if l.Published != 2*n || l.Likes != 2*n || l.Due < 3*n || l.Written < 3*n || l.Subscriber+l.Broadcast+l.Shard != 0 {
		t.Errorf("%+v", l)
	}
}

// A reader has no event of before it joined, not even one from the same packet.
func TestAReaderHasNothingFromBefore(t *testing.T) {
	url := serve(t, 1)
	_, old := dial(t, url, 0)
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, strings.Repeat("POST /like/0 HTTP/1.1\r\nHost: x\r\n\r\n", 2)+"GET /events/0 HTTP/1.1\r\nHost: x\r\n\r\n")
	until(t, url, func(l hub.Told) bool { return l.Shards[0] == 2 })
	like(t, url, 0)
	for id := int64(1); id <= 3; id++ {
		if got := next(t, old); got != id {
			t.Errorf("%d is where %d should be", got, id)
		}
	}
	r := bufio.NewReader(c)
	for range 2 {
		if answer, err := http.ReadResponse(r, nil); err != nil || answer.StatusCode != http.StatusNoContent {
			t.Fatal(answer, err)
		}
	}
	answer, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := next(t, bufio.NewReader(answer.Body)); got != 3 {
		t.Errorf("the new reader's first event is %d", got)
	}
	if l := ledger(t, url); l.Due != 4 || l.Written != 4 {
		t.Errorf("%+v", l)
	}
}

// What is wrong gets an answer or a close, and the server goes on. A connection whose next request could
// not be found, or whose client may not know where an answer ends, is closed.
func TestWrongRequests(t *testing.T) {
	url := serve(t, 2)
	const host, behind = " HTTP/1.1\r\nHost: x\r\n\r\n", "GET /ledger HTTP/1.1\r\nHost: x\r\n\r\n"
	for text, want := range map[string]string{
		"DELETE /like/0" + host:                   "404 200",
		"GET /like/0" + host:                      "404 200",
		"POST /like/2" + host:                     "404 200",
		"POST /like/0/0" + host:                   "404 200",
		"GET /events/99999999999999999999" + host: "404 200",
		"HEAD /ledger" + host:                     "404",
		"GET /ledger HTTP/1.1\r\n\r\n":            "",
		"GET /ledger HTTP/1.1\r\nHost: x\r\nA: " + strings.Repeat("a", inputSize):                       "",
		"POST /like/0 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello":                            "204",
		"POST /like/0 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n": "204",
		"POST /like/0 HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n":         "204",
		"POST /like/0 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n":                                 "204",
		"POST /like/0 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n":                                       "204",
		"GET /led": "",
		"":         "200",
	} {
		c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		c.SetDeadline(time.Now().Add(programtest.Patience))
		io.WriteString(c, text+behind)
		_ = c.(*net.TCPConn).CloseWrite()
		got, _ := io.ReadAll(c) // a close with something unread is a reset, which either may notice
		c.Close()
		var statuses []string
		for _, found := range regexp.MustCompile(`HTTP/1\.1 (\d+) `).FindAllSubmatch(got, -1) {
			statuses = append(statuses, string(found[1]))
		}
		closes := bytes.Contains(got, []byte("\r\nConnection: close\r\n"))
		if all := strings.Join(statuses, " "); all != want || closes != (len(statuses) == 1 && text != "") {
			t.Errorf("%.60q: %s, %.200q", text, all, got)
		}
	}
	if l := until(t, url, quiet); l.Likes != 5 {
		t.Errorf("%+v", l)
	}
}

// However a socket cuts events, each is written, lost, or the one that was begun and is owed.
func TestEventsThatAreCut(t *testing.T) {
	const n = 5
	var text []byte
	ends := []int{0}
	for id := range n {
		text = hub.AppendText(text, uint64(id+1), 0, 1, 1)
		ends = append(ends, len(text))
	}
	for cut := range len(text) + 1 {
		var l loop
		var c conn
		l.took(&c, text, n, cut)
		whole := 0
		for whole < n && ends[whole+1] <= cut {
			whole++
		}
		kept := whole
		if cut > ends[whole] {
			kept++
		}
		if int(l.Written) != whole || int(l.Subscriber) != n-kept || !bytes.Equal(c.owed, text[cut:max(cut, ends[kept])]) {
			t.Fatalf("%d: %+v, %q is owed", cut, l.Ledger, c.owed)
		}
	}
}

// A client that asks and asks and reads nothing is cut off, and the others are served.
func TestAClientThatReadsNoAnswers(t *testing.T) {
	url := serve(t, 1)
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(programtest.Patience))
	_ = c.(*net.TCPConn).SetReadBuffer(4 << 10)
	for n := 0; err == nil; n++ {
		if _, err = io.WriteString(c, strings.Repeat("GET /ledger HTTP/1.1\r\nHost: x\r\n\r\n", 100)); n == 10_000 {
			t.Fatal("a million answers were not read, and it is still served")
		}
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("it was neither served nor cut off")
	}
	like(t, url, 0)
}

// Flags that both servers have are refused by both in the same words.
func TestSettingsThatAreRefused(t *testing.T) {
	for _, flags := range []string{"--addr 0.0.0.0:1", "--addr x", "--topics 0", "--topics 10001", "--topics x", "more", "--unknown 1"} {
		var said []string
		for _, name := range []string{"fanout_floor", "fanout_server"} {
			cmd := exec.Command(programtest.Path(name), strings.Fields(flags)...)
			out, _ := cmd.CombinedOutput()
			said = append(said, fmt.Sprint(cmd.ProcessState.ExitCode(), strings.TrimPrefix(string(out), name)))
		}
		if said[0] != said[1] || !strings.HasPrefix(said[0], "2 ") && !strings.HasPrefix(said[0], "2:") {
			t.Errorf("%s: %q, and of fanout_server %q", flags, said[0], said[1])
		}
	}
	_, taken := programtest.Start(t, programtest.Path("fanout_floor"), "--addr", "127.0.0.1:0")
	programtest.Calls{{[]string{"--help"}, 0, "--topics"}, {[]string{"--addr", taken}, 3, "already in use"}}.
		Check(t, programtest.Path("fanout_floor"))
}
