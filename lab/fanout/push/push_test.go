package push

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// A node is a server that is pushed to. It notes what came, in order.
type node struct {
	mu     sync.Mutex
	came   []string
	hold   chan struct{} // nil: it answers at once
	status int
	live   string
}

func (n *node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/live" {
		fmt.Fprint(w, n.live)
		return
	}
	body, _ := io.ReadAll(r.Body)
	if n.hold != nil {
		<-n.hold
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.came = append(n.came, strings.TrimPrefix(r.URL.Path, "/publish/")+"="+string(body))
	w.WriteHeader(n.status)
}

func (n *node) has() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Join(n.came, " ")
}

// start serves a node and gives its address.
func (n *node) start(t *testing.T) *Address {
	t.Helper()
	if n.status == 0 {
		n.status = http.StatusNoContent
	}
	srv := httptest.NewServer(n)
	t.Cleanup(srv.Close)
	to, err := Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// until waits for a ledger in which something holds.
func until(t *testing.T, p *Pusher, holds func(Ledger) bool) Ledger {
	t.Helper()
	for range 5000 {
		if l := p.Ledger(); holds(l) {
			return l
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("it never comes to that: %+v", p.Ledger())
	return Ledger{}
}

func quiet(l Ledger) bool { return l.UnderWay == 0 }

func TestEachCountIsPushedInOrder(t *testing.T) {
	n := &node{}
	p := New(Options{To: n.start(t), Drainers: 1, Queue: 8}, 10)
	p.Offer(3, 1)
	p.Offer(4, 1)
	p.Offer(3, 2)
	if l := until(t, p, quiet); l.Pushed != 3 || l.Offered != 3 || l.PushS <= 0 || n.has() != "3=1 4=1 3=2" {
		t.Errorf("%+v, %s", l, n.has())
	}
}

// By hand: two drainers hold one count each, four wait, and of ten the other four find no room.
func TestAFullQueueLosesAndCounts(t *testing.T) {
	n := &node{hold: make(chan struct{})}
	p := New(Options{To: n.start(t), Drainers: 2, Queue: 4}, 1)
	p.Offer(0, 1)
	p.Offer(0, 2)
	for len(p.queue) > 0 {
		time.Sleep(time.Millisecond)
	}
	for i := int64(3); i <= 10; i++ {
		p.Offer(0, i)
	}
	if l := p.Ledger(); l.Full != 4 || l.UnderWay != 6 || l.Pushed != 0 {
		t.Errorf("%+v", l)
	}
	close(n.hold)
	if l := until(t, p, quiet); l.Pushed != 6 || l.Full != 4 {
		t.Errorf("%+v", l)
	}
}

func TestAWindowPushesTheLastCountOfEachPost(t *testing.T) {
	n := &node{live: "[1,2]"}
	p := New(Options{To: n.start(t), Drainers: 1, Queue: 8, Window: 50 * time.Millisecond, Live: true}, 4)
	for i := int64(1); i <= 100; i++ {
		p.Offer(1, i)
	}
	p.Offer(2, 8)
	p.Offer(2, 7) // it was counted first, and offered last
	p.Offer(3, 5) // nobody watches it
	l := until(t, p, quiet)
	if l.Offered != 103 || l.Pushed+l.Merged+l.Unrouted != 103 || l.Unrouted != 1 || l.Windows == 0 || l.Full+l.Failed != 0 {
		t.Errorf("%+v", l)
	}
	if got := n.has(); !strings.HasSuffix(got, "1=100 2=8") || strings.Contains(got, "3=5") {
		t.Error(got)
	}
}

func TestAPushThatFailsIsCountedAndSaid(t *testing.T) {
	n := &node{status: http.StatusServiceUnavailable}
	p := New(Options{To: n.start(t), Drainers: 1, Queue: 8}, 1)
	p.Offer(0, 1)
	if l := until(t, p, quiet); l.Failed != 1 || l.Pushed != 0 || !strings.Contains(l.Why, "answered 503") {
		t.Errorf("%+v", l)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	to, err := Parse("http://" + ln.Addr().String())
	ln.Close()
	if err != nil {
		t.Fatal(err)
	}
	p = New(Options{To: to, Drainers: 1, Queue: 8, Window: time.Millisecond, Live: true}, 1)
	p.Offer(0, 1)
	// Where nobody says which posts have readers, all are pushed: the loss is then counted as what it is.
	if l := until(t, p, quiet); l.Failed != 1 || l.Unrouted != 0 || !strings.Contains(l.Why, "refused") {
		t.Errorf("%+v", l)
	}
}

func TestAUnixSocketIsPushedTo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "node")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	n := &node{status: http.StatusNoContent}
	srv := &http.Server{Handler: n}
	go func() { _ = srv.Serve(ln) }()
	t.Cleanup(func() { srv.Close() })
	to, err := Parse("unix:" + path)
	if err != nil {
		t.Fatal(err)
	}
	p := New(Options{To: to, Drainers: 4, Queue: 8}, 1)
	p.Offer(0, 9)
	if l := until(t, p, quiet); l.Pushed != 1 || n.has() != "0=9" {
		t.Errorf("%+v, %s", l, n.has())
	}
}

func TestAddressesThatAreRefused(t *testing.T) {
	for _, text := range []string{"", "unix:", "http://example.com:80", "https://127.0.0.1:1", "http://127.0.0.1:1/x", "127.0.0.1:1"} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), "give http://HOST:PORT") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
