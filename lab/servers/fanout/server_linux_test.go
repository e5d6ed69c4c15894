package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/program"
	"github.com/line-rate/line-rate/lab/internal/program/programtest"
	"github.com/line-rate/line-rate/lab/servers/fanout/hub"
)

func TestMain(m *testing.M) {
	programtest.Main(m, map[string]string{"fanout_server": ".", "fanout_floor": "epoll"})
}

// start starts a server by its words, and gives its URL.
func start(t *testing.T, words string) (url string) {
	t.Helper()
	name, flags, _ := strings.Cut(words, " ")
	call := append([]string{programtest.Path(name), "--addr", "127.0.0.1:0"}, strings.Fields(flags)...)
	_, addr := programtest.Start(t, call...)
	return "http://" + addr
}

func post(t *testing.T, url, body string, want int) {
	t.Helper()
	answer, err := http.Post(url, "text/plain", strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return
	}
	io.Copy(io.Discard, answer.Body)
	answer.Body.Close()
	if answer.StatusCode != want {
		t.Errorf("%s answered %s, want %d", url, answer.Status, want)
	}
}

// ledger reads a ledger, with no field that is not known.
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
	for end := time.Now().Add(programtest.Patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if l = ledger(t, url); want(l) {
			return l
		}
	}
	t.Fatalf("the ledger stays so: %+v", l)
	return l
}

func quiet(l hub.Told) bool { return l.UnderWay() == 0 && (l.Push == nil || l.Push.UnderWay() == 0) }

// A watcher has the stream of a post.
type watcher struct {
	t *testing.T
	*net.TCPConn
	stream *bufio.Reader
}

// watch opens a stream, whose head has come.
func watch(t *testing.T, url string, post int) *watcher {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(programtest.Patience))
	fmt.Fprintf(c, "GET /events/%d HTTP/1.1\r\nHost: x\r\n\r\n", post)
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	if h := answer.Header; answer.StatusCode != http.StatusOK || h.Get("Content-Type") != "text/event-stream" ||
		h.Get("Cache-Control") != "no-cache" {
		t.Fatal(answer.Status, h)
	}
	return &watcher{t, c.(*net.TCPConn), bufio.NewReader(answer.Body)}
}

var form = regexp.MustCompile(`^id: (\d+)\ndata: \{"post":\d+,"likes":(\d+),"at":\d{19}\}\n\n$`)

// next reads an event.
func (w *watcher) next() (id, likes int64) {
	w.t.Helper()
	var text string
	for range 3 {
		line, err := w.stream.ReadString('\n')
		if err != nil {
			w.t.Fatal(err, text)
		}
		text += line
	}
	found := form.FindStringSubmatch(text)
	if found == nil {
		w.t.Fatalf("%q is no event", text)
	}
	fmt.Sscan(found[1], &id)
	fmt.Sscan(found[2], &likes)
	return id, likes
}

// has checks the number of the next event.
func (w *watcher) has(want int64) bool {
	w.t.Helper()
	id, _ := w.next()
	if id != want {
		w.t.Errorf("event %d is where %d should be", id, want)
	}
	return id == want
}

// Each server sends each count to its readers of that moment, and accounts for each delivery.
func TestContract(t *testing.T) {
	for _, words := range []string{"fanout_floor", "fanout_server", "fanout_server --shards 8",
		"fanout_server --shards 8 --shard-by counter"} {
		t.Run(words, func(t *testing.T) {
			url := start(t, words)
			first := watch(t, url, 3)
			for range 5 {
				post(t, url+"/like/3", "", http.StatusNoContent)
			}
			post(t, url+"/like/4", "", http.StatusNoContent)
			for n := range int64(5) {
				if id, likes := first.next(); id != n+1 || likes != n+1 {
					t.Errorf("event %d with %d likes is where %d should be", id, likes, n+1)
				}
			}
			late := watch(t, url, 3)
			post(t, url+"/like/3", "", http.StatusNoContent)
			first.has(6)
			late.has(6)
			l := until(t, url, quiet)
			if l.Due != 7 || l.Written != 7 || l.Published != 7 || l.Readers() != 2 || l.Resident < 1e5 {
				t.Errorf("%+v", l)
			}
			late.Close()
			until(t, url, func(l hub.Told) bool { return l.Readers() == 1 })
			for _, path := range []string{"/like/10", "/like/-1", "/like/x", "/like/3/3", "/like/99999999999999999999",
				"/other"} {
				post(t, url+path, "", http.StatusNotFound)
			}
			if l := ledger(t, url); l.Published != 7 {
				t.Errorf("%+v", l)
			}
		})
	}
}

// likes gives likes to the first post, so many in one packet, until it is enough.
func likes(t *testing.T, url string, enough func(hub.Told) bool) {
	t.Helper()
	const together = 64
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r := bufio.NewReader(c)
	for n := 0; n < 2000 && !enough(ledger(t, url)); n++ {
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

// A reader that stops has what was begun, then the events from when it read on: each as a whole, in order, and as many
// as the ledger says. One that stops and goes takes what waited with it.
func TestAReaderThatStops(t *testing.T) {
	for _, words := range []string{"fanout_floor", "fanout_server"} {
		url := start(t, words)
		w := watch(t, url, 0)
		_ = w.SetReadBuffer(4 << 10)
		var before hub.Ledger
		stops := func(l hub.Told) bool { // while there are likes, nothing is written
			stopped := l.UnderWay() > 0 && l.Written == before.Written
			before = l.Ledger
			return stopped
		}
		likes(t, url, stops)
		l := until(t, url, func(l hub.Told) bool { // and nothing moves
			moved := l.Ledger != before
			before = l.Ledger
			time.Sleep(500 * time.Millisecond) // a busy machine may not run the server for less
			return !moved
		})
		_ = w.SetReadBuffer(1 << 20) // with little room the kernel would take seconds
		var last int64
		for range l.Due - l.Subscriber - l.Broadcast {
			id, _ := w.next()
			if id <= last {
				t.Fatalf("%s: %d after %d", words, id, last)
			}
			last = id
		}
		if last >= l.Published {
			t.Errorf("%s: the last was %d, though the later ones of %d were lost", words, last, l.Published)
		}
		until(t, url, quiet)
		post(t, url+"/like/0", "", http.StatusNoContent)
		w.has(l.Published + 1)
		likes(t, url, stops)
		_ = w.SetLinger(0)
		w.Close()
		now := until(t, url, func(now hub.Told) bool { return quiet(now) && now.Readers() == 0 })
		if now.Left+now.Socket == 0 {
			t.Errorf("%s: what waited for the reader that went is nowhere: %+v", words, now)
		}
	}
}

// Readers come and go, in all ways, while there are likes; others that stay miss nothing.
func TestReadersComeAndGo(t *testing.T) {
	for _, words := range []string{"fanout_floor", "fanout_server --subscriber 1000",
		"fanout_server --subscriber 1000 --shards 2"} {
		url := start(t, words)
		const n = 300
		var all sync.WaitGroup
		for range 3 {
			w := watch(t, url, 1)
			all.Go(func() {
				for id := int64(1); id <= n && w.has(id); id++ {
				}
			})
		}
		for way := range 3 {
			all.Go(func() {
				for range 40 {
					w := watch(t, url, 1)
					switch way {
					case 0:
						_ = w.SetLinger(0)
					case 1:
						_ = w.CloseWrite()
						io.Copy(io.Discard, w.stream) // the server closes
					}
					w.Close()
				}
			})
		}
		for range 4 {
			all.Go(func() {
				for range n / 4 {
					post(t, url+"/like/1", "", http.StatusNoContent)
					post(t, url+"/like/0", "", http.StatusNoContent)
				}
			})
		}
		all.Wait()
		l := until(t, url, func(l hub.Told) bool { return quiet(l) && l.Readers() == 3 })
		if l.Published != 2*n || l.Due < 3*n || l.Written < 3*n || l.Subscriber+l.Broadcast+l.Shard != 0 {
			t.Errorf("%s: %+v", words, l)
		}
	}
}

// What is wrong gets an answer, and the floor goes on. A connection whose next request could not be found, or whose
// client may not know where an answer ends, is closed. Likes before a stream in one packet are none of its events.
func TestRequestsOfTheFloor(t *testing.T) {
	url := start(t, "fanout_floor")
	const like, behind = "POST /like/0 HTTP/1.1\r\nHost: x\r\n", "\r\nGET /ledger HTTP/1.1\r\nHost: x\r\n\r\n"
	for text, want := range map[string]string{
		"DELETE /like/0 HTTP/1.1\r\nHost: x\r\n":                           "404 200",
		"HEAD /ledger HTTP/1.1\r\nHost: x\r\n":                             "404",
		"GET /ledger HTTP/1.1\r\n":                                         "400",
		like + "A: " + strings.Repeat("a", 20_000):                         "431",
		like + "Content-Length: 5\r\n\r\nhello":                            "204",
		like + "Transfer-Encoding: chunked\r\n":                            "204",
		like + "Connection: close\r\n":                                     "204",
		"POST /like/0 HTTP/1.0\r\nConnection: keep-alive\r\n":              "204",
		like + "\r\n" + like + "\r\nGET /events/0 HTTP/1.1\r\nHost: x\r\n": "204 204 200",
	} {
		c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		c.SetDeadline(time.Now().Add(programtest.Patience))
		io.WriteString(c, text+behind)
		_ = c.(*net.TCPConn).CloseWrite()
		got, err := io.ReadAll(c)
		c.Close()
		var statuses []string
		for _, found := range regexp.MustCompile(`HTTP/1\.1 (\d+) `).FindAllSubmatch(got, -1) {
			statuses = append(statuses, string(found[1]))
		}
		closes := bytes.Contains(got, []byte("\r\nConnection: close\r\n"))
		if all := strings.Join(statuses, " "); err != nil || all != want || closes != (want != "404 200") ||
			bytes.Contains(got, []byte("id: ")) {
			t.Errorf("%.60q: %s, %.200q, %v", text, all, got, err)
		}
	}
	if l := until(t, url, quiet); l.Published != 6 {
		t.Errorf("%+v", l)
	}
}

// The writers' process says where the readers are, pushes the last count of each window, and none of a post that
// nobody watches.
func TestTwoProcessesPush(t *testing.T) {
	url := start(t, "fanout_server --apart tcp --window 20ms --route live --drainers 4")
	node := "http://" + ledger(t, url).ReadersAt
	w := watch(t, node, 1)
	for range 50 {
		post(t, url+"/like/1", "", http.StatusNoContent)
	}
	post(t, url+"/like/2", "", http.StatusNoContent)
	l := until(t, url, quiet)
	p := l.Push
	if p.Offered != 51 || p.Unrouted != 1 || p.Pushed+p.Merged != 50 || p.Failed+p.Full != 0 || l.Published != 0 {
		t.Errorf("%+v", *p)
	}
	for last := int64(0); last < 50; {
		_, last = w.next()
	}
	if n := until(t, node, quiet); n.Published != l.Push.Pushed || n.Written != n.Published {
		t.Errorf("%+v, of %d pushed", n, l.Push.Pushed)
	}
	post(t, node+"/publish/10", "1", http.StatusNotFound)
	post(t, node+"/publish/1", "many", http.StatusBadRequest)
	post(t, node+"/publish/1", strings.Repeat("1", 40), http.StatusBadRequest)
}

// By hand: one count is with the drainer, the queue has its room full of others, and of the rest none is pushed.
func TestPushesThatFindNoRoomOrFailAreCounted(t *testing.T) {
	hold := make(chan bool)
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		<-hold
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer node.Close()
	p := newPusher(settings{drainers: 1, pushTo: node.Listener.Addr(), hub: hub.Published()})
	p.offer(0, 1)
	for len(p.queue) > 0 {
		time.Sleep(time.Millisecond)
	}
	for n := range int64(queueRoom + 4) {
		p.offer(0, n+2)
	}
	if l := p.ledger(); l.Full != 4 || l.UnderWay() != queueRoom+1 || l.Pushed != 0 {
		t.Errorf("%+v", l)
	}
	close(hold)
	for end := time.Now().Add(programtest.Patience); p.ledger().UnderWay() > 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if l := p.ledger(); l.Failed != queueRoom+1 || l.Pushed != 0 {
		t.Errorf("%+v", l)
	}
}

func TestSettingsThatAreRefused(t *testing.T) {
	taken := strings.TrimPrefix(start(t, "fanout_floor"), "http://")
	refused := map[string]string{"--addr 0.0.0.0:1": "loopback", "--unknown 1": "-unknown",
		"more": `unexpected argument "more"`}
	check := func(name string) {
		calls := programtest.Calls{{[]string{"--help"}, program.OK, "/like/{post}"},
			{[]string{"--addr", taken}, program.InUse, "already in use"}}
		for flags, says := range refused {
			calls = append(calls, programtest.Calls{{strings.Fields(flags), program.Refused, says}}...)
		}
		calls.Check(t, programtest.Path(name))
	}
	check("fanout_floor")
	maps.Copy(refused, map[string]string{
		"--topics 0":                "from 1 to 10000",
		"--shard-by random":         "give address or counter",
		"--window 100ms":            "set --apart",
		"--window 1us":              "from 1ms",
		"--apart unix --route live": "set --window",
		"--pprof-sockets /":         "mkdir",
		"--shards -1":               "from 0 to 1024",
		"--inherited":               "set by --apart alone",
	})
	check("fanout_server")
}
