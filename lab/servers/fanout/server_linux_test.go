package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/servers/fanout/hub"
)

// serve starts a server with flags, without a process of its own.
func serve(t *testing.T, flags ...string) (srv *server, url string) {
	t.Helper()
	s, err := parse(flags)
	if err != nil {
		t.Fatal(err)
	}
	return on(t, s)
}

func on(t *testing.T, s settings) (srv *server, url string) {
	srv = newServer(s)
	on := httptest.NewServer(srv.handler())
	t.Cleanup(func() {
		on.CloseClientConnections()
		on.Close()
	})
	return srv, on.URL
}

func post(t *testing.T, url, body string, want int) {
	t.Helper()
	answer, err := http.Post(url, "text/plain", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != want {
		t.Fatalf("%s answered %s", url, answer.Status)
	}
}

// watch opens a stream; lines gives its lines, and stop ends it.
func watch(t *testing.T, url string) (lines *bufio.Scanner, stop func()) {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	if ct := answer.Header.Get("Content-Type"); answer.StatusCode != http.StatusOK || ct != "text/event-stream" {
		t.Fatalf("%s answered %s, %s", url, answer.Status, ct)
	}
	return bufio.NewScanner(answer.Body), func() { answer.Body.Close() }
}

// closes waits until the ledger has nothing under way.
func closes(t *testing.T, url string) (l hub.Told) {
	t.Helper()
	for range 2000 {
		l = hub.Told{}
		answer, err := http.Get(url + "/ledger")
		if err == nil {
			err = json.NewDecoder(answer.Body).Decode(&l)
			answer.Body.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		if l.UnderWay() == 0 && (l.Push == nil || l.Push.UnderWay() == 0) {
			return l
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("the ledger does not close: %+v", l)
	return l
}

func TestAReaderHasEachCountInEveryDesign(t *testing.T) {
	for _, flags := range [][]string{nil, {"--flush", "drained"}, {"--shards", "8"},
		{"--shards", "8", "--shard-by", "counter", "--flush", "drained"}} {
		_, url := serve(t, flags...)
		lines, stop := watch(t, url+"/events/3")
		for range 5 {
			post(t, url+"/like/3", "", http.StatusNoContent)
		}
		post(t, url+"/like/4", "", http.StatusNoContent)
		for n := 1; n <= 5; n++ {
			var text []string
			for range 3 {
				lines.Scan()
				text = append(text, lines.Text())
			}
			if got := strings.Join(text, "|"); !strings.HasPrefix(got, fmt.Sprintf(`id: %d|data: {"post":3,"likes":%d,"at":`, n, n)) {
				t.Errorf("%v: %q", flags, got)
			}
		}
		stop()
		if l := closes(t, url); l.Due != 5 || l.Written != 5 || l.Likes != 6 || l.Published != 6 {
			t.Errorf("%v: %+v", flags, l)
		}
	}
}

func underWay(srv *server) int64 {
	l := srv.hub.Ledger()
	return l.UnderWay()
}

// waits tells whether a reader's whole channel waits, as it does behind a full socket and not behind a goroutine that
// is slow to get a core.
func waits(srv *server) bool {
	for range 100 {
		if underWay(srv) < int64(srv.hub.Subscriber) {
			return false
		}
		time.Sleep(time.Millisecond)
	}
	return true
}

// A reader that takes nothing fills its socket, then its channel; nobody else loses anything by that.
func TestAReaderThatStopsReadingLosesAtItsChannel(t *testing.T) {
	srv, url := serve(t)
	idle, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	fmt.Fprintf(idle, "GET /events/0 HTTP/1.1\r\nHost: x\r\n\r\n")
	lines, stop := watch(t, url+"/events/0")
	for srv.hub.Live(0)[0] < 2 {
		time.Sleep(time.Millisecond)
	}
	published := 0
	for closed := false; !closed; {
		srv.hub.Publish(0, 1)
		published++
		for range 3 {
			lines.Scan()
		}
		closed = srv.hub.Ledger().Subscriber >= 10 && waits(srv)
	}
	idle.Close()
	stop()
	l := closes(t, url)
	if l.Due != int64(2*published) || l.Subscriber < 10 || l.Broadcast+l.Shard != 0 || l.Written < int64(published) {
		t.Errorf("of %d published: %+v", published, l)
	}
	if l.Socket+l.Left == 0 {
		t.Errorf("what waited for the reader that went is nowhere: %+v", l)
	}
}

func TestTwoProcessesPush(t *testing.T) {
	_, node := serve(t)
	s, err := parse(strings.Fields("--apart tcp --window 20ms --route live --drainers 4"))
	if err == nil {
		s.pushTo, err = net.ResolveTCPAddr("tcp", strings.TrimPrefix(node, "http://"))
	}
	if err != nil {
		t.Fatal(err)
	}
	_, writes := on(t, s)
	lines, stop := watch(t, node+"/events/1")
	defer stop()
	for range 50 {
		post(t, writes+"/like/1", "", http.StatusNoContent)
	}
	post(t, writes+"/like/2", "", http.StatusNoContent)
	l := closes(t, writes)
	if p := l.Push; p.Offered != 51 || p.Unrouted != 1 || p.Pushed+p.Merged != 50 || p.Failed+p.Full != 0 || l.Published != 0 {
		t.Errorf("%+v", *p)
	}
	for last := false; !last; {
		if !lines.Scan() {
			t.Fatal("the stream ended")
		}
		last = strings.Contains(lines.Text(), `"likes":50,`)
	}
	if n := closes(t, node); n.Published != l.Push.Pushed || n.Written != n.Published || n.Likes != 0 {
		t.Errorf("%+v, of %d pushed", n, l.Push.Pushed)
	}
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
	for end := time.Now().Add(20 * time.Second); p.ledger().UnderWay() > 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if l := p.ledger(); l.Failed != queueRoom+1 || l.Pushed != 0 {
		t.Errorf("%+v", l)
	}
}

func TestWhatIsNotThereIsRefused(t *testing.T) {
	_, url := serve(t)
	for _, path := range []string{"/like/10", "/like/-1", "/like/x", "/publish/10"} {
		post(t, url+path, "1", http.StatusNotFound)
	}
	post(t, url+"/publish/1", "many", http.StatusBadRequest)
	post(t, url+"/publish/1", strings.Repeat("1", 40), http.StatusBadRequest)
	post(t, url+"/publish/1", "8", http.StatusNoContent)
	if l := closes(t, url); l.Published != 1 || l.Likes != 0 {
		t.Errorf("%+v", l)
	}
}

func TestSettingsThatAreRefused(t *testing.T) {
	for flags, want := range map[string]string{
		"--addr 0.0.0.0:1":          "loopback",
		"--topics 0":                "from 1 to 10000",
		"--shard-by random":         "give address or counter",
		"--flush never":             "give each or drained",
		"--window 100ms":            "set --apart",
		"--window 1us":              "from 1ms",
		"--apart unix --route live": "set --window",
		"--pprof-sockets /":         "--pprof-sockets",
		"--shards -1":               "from 0 to 1024",
		"more":                      `unexpected argument "more"`,
	} {
		if _, err := parse(strings.Fields(flags)); err == nil || !strings.Contains(err.Error()+flags, want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", flags, err)
		}
	}
}
