// Package push carries counts to another process, as the series' entries 15 to 17 do: a queue with a set
// room, and drainers that each take one count at a time and post it.
//
//	offer ─► queue ─► drainer ─► POST                      each count; what finds the queue full is lost
//	offer ─► window ─► queue ─► drainer ─► POST            the last count of each post, once in a window
//
// It keeps a ledger: each count that is offered is pushed, lost at the queue, failed, merged into a later
// one of its window, kept back since nobody watches its post, or still under way.
package push

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/line-rate/line-rate/lab/internal/program"
)

// To which posts a window's counts are pushed.
const (
	RouteAll  = "all"
	RouteLive = "live"
)

// Options are how counts are pushed.
type Options struct {
	To       *Address // nil: nowhere
	Drainers int
	Queue    int
	Window   time.Duration // 0: each count is pushed
	Live     bool          // ask first which posts have readers, once in a window
}

// Published are the series' own settings, of entry 15.
func Published() Options { return Options{Drainers: 1, Queue: 512} }

// An Address is that of another server, over TCP or a Unix socket.
type Address struct{ url, unix string }

// Parse reads http://HOST:PORT or unix:PATH.
func Parse(text string) (*Address, error) {
	if path, ok := strings.CutPrefix(text, "unix:"); ok && path != "" {
		return &Address{"http://unix", path}, nil
	}
	url, err := Base(text)
	if err != nil {
		return nil, fmt.Errorf("%w, or unix:PATH", err)
	}
	return &Address{url, ""}, nil
}

// Base reads http://HOST:PORT, and gives it without a slash at its end.
func Base(text string) (url string, err error) {
	url = strings.TrimSuffix(text, "/")
	if !program.LoopbackURL(url) || strings.Count(url, "/") != 2 || strings.ContainsAny(url, "?#") {
		return "", errors.New("give http://HOST:PORT with a loopback host")
	}
	return url, nil
}

// within is how long a push may take.
const within = 10 * time.Second

func (a Address) client(connections int) *http.Client {
	t := &http.Transport{MaxIdleConnsPerHost: connections, DisableCompression: true}
	if a.unix != "" {
		t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", a.unix)
		}
	}
	return &http.Client{Transport: t, Timeout: within}
}

// A Ledger says what became of the counts that were offered.
type Ledger struct {
	Offered  int64   `json:"offered"`
	Merged   int64   `json:"merged"`   // into a later count of its post, in its window
	Unrouted int64   `json:"unrouted"` // nobody watches the post
	Full     int64   `json:"full"`     // lost at the queue
	Failed   int64   `json:"failed"`   // the push was not accepted
	Pushed   int64   `json:"pushed"`
	UnderWay int64   `json:"under_way"`
	Windows  int64   `json:"windows"`
	PushS    float64 `json:"push_s"`        // seconds that all pushes took, together
	Why      string  `json:"why,omitempty"` // the first push or question that failed
}

// A Pusher pushes counts until its process ends.
type Pusher struct {
	options Options
	client  *http.Client
	queue   chan count

	offered, merged, unrouted, full, failed, pushed, windows, pushNs atomic.Int64
	why                                                              atomic.Pointer[string]

	mu   sync.Mutex
	last []int64 // by post: the last count in this window; 0: none
}

type count struct {
	post int
	n    int64
}

// New makes a pusher and starts its goroutines.
func New(o Options, posts int) *Pusher {
	p := &Pusher{options: o, client: o.To.client(o.Drainers + 1), queue: make(chan count, o.Queue), last: make([]int64, posts)}
	for range o.Drainers {
		go p.drain()
	}
	if o.Window > 0 {
		go p.flush()
	}
	return p
}

// Offer gives a post's count, which is above zero, and does not wait.
func (p *Pusher) Offer(post int, n int64) {
	p.offered.Add(1)
	if p.options.Window == 0 {
		p.enqueue(count{post, n})
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last[post] > 0 {
		p.merged.Add(1)
	}
	p.last[post] = max(p.last[post], n) // two likes may be offered in the other order
}

func (p *Pusher) enqueue(c count) {
	select {
	case p.queue <- c:
	default:
		p.full.Add(1)
	}
}

// flush takes what a window has. The lock is held for no more than that.
func (p *Pusher) flush() {
	spare := make([]int64, len(p.last))
	for range time.Tick(p.options.Window) {
		p.mu.Lock()
		p.last, spare = spare, p.last
		p.mu.Unlock()
		p.windows.Add(1)
		live := p.live()
		for post, n := range spare {
			switch {
			case n == 0:
			case live != nil && !live[post]:
				p.unrouted.Add(1)
			default:
				p.enqueue(count{post, n})
			}
		}
		clear(spare)
	}
}

// live are the posts that have readers; nil: all are to be pushed, also since nobody said.
func (p *Pusher) live() map[int]bool {
	if !p.options.Live {
		return nil
	}
	answer, err := p.client.Get(p.options.To.url + "/live")
	var posts []int
	if err == nil {
		err = json.NewDecoder(answer.Body).Decode(&posts)
		answer.Body.Close()
	}
	if err != nil {
		p.fails(err)
		return nil
	}
	live := map[int]bool{}
	for _, post := range posts {
		live[post] = true
	}
	return live
}

func (p *Pusher) drain() {
	for c := range p.queue {
		began := time.Now()
		err := p.push(c)
		p.pushNs.Add(time.Since(began).Nanoseconds())
		if err != nil {
			p.failed.Add(1)
			p.fails(err)
			continue
		}
		p.pushed.Add(1)
	}
}

func (p *Pusher) push(c count) error {
	url := p.options.To.url + "/publish/" + strconv.Itoa(c.post)
	answer, err := p.client.Post(url, "text/plain", strings.NewReader(strconv.FormatInt(c.n, 10)))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<16)) // so that the connection is used again
	if answer.StatusCode != http.StatusNoContent {
		return fmt.Errorf("%s answered %s", url, answer.Status)
	}
	return nil
}

// fails keeps the first failure.
func (p *Pusher) fails(err error) {
	text := err.Error()
	p.why.CompareAndSwap(nil, &text)
}

// Ledger reads the ledger, its places before what was offered.
func (p *Pusher) Ledger() Ledger {
	l := Ledger{Pushed: p.pushed.Load(), Failed: p.failed.Load(), Full: p.full.Load(), Unrouted: p.unrouted.Load(),
		Merged: p.merged.Load(), Windows: p.windows.Load(), PushS: float64(p.pushNs.Load()) / 1e9, Offered: p.offered.Load()}
	l.UnderWay = l.Offered - l.Pushed - l.Failed - l.Full - l.Unrouted - l.Merged
	if why := p.why.Load(); why != nil {
		l.Why = *why
	}
	return l
}
