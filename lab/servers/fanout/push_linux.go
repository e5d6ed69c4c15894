package main

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/line-rate/line-rate/lab/servers/fanout/hub"
)

const (
	queueRoom  = 512              // counts that wait to be pushed, as the series printed
	pushWithin = 10 * time.Second // how long a push may take
)

// A pusher carries counts to another process, as the series' entries 15 to 17 do: a queue with a set room, and
// drainers that each take one count at a time and post it.
//
//	offer ─► queue ─► drainer ─► POST                      each count; what finds the queue full is lost
//	offer ─► window ─► queue ─► drainer ─► POST            the last count of each post, once in a window
//
// It keeps a ledger: each count that is offered is pushed, lost at the queue, failed, merged into a later
// one of its window, kept back since nobody watches its post, or still under way.
type pusher struct {
	window time.Duration
	url    string
	client *http.Client
	queue  chan count

	offered, merged, unrouted, full, failed, pushed, pushNs atomic.Int64

	mu   sync.Mutex
	last []int64 // by post: the last count in this window; 0: none
}

type count struct {
	post int
	n    int64
}

// newPusher makes a pusher to the process that has the readers, and starts its goroutines.
func newPusher(s settings) *pusher {
	t := &http.Transport{MaxIdleConnsPerHost: s.drainers + 1, DisableCompression: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, s.pushTo.Network(), s.pushTo.String())
		}}
	p := &pusher{window: s.window, url: "http://readers", client: &http.Client{Transport: t, Timeout: pushWithin},
		queue: make(chan count, queueRoom), last: make([]int64, s.hub.Topics)}
	for range s.drainers {
		go p.drain()
	}
	if s.window > 0 {
		go p.flush(s.live)
	}
	return p
}

// offer gives a post's count, which is above zero, and does not wait.
func (p *pusher) offer(post int, n int64) {
	p.offered.Add(1)
	if p.window == 0 {
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

func (p *pusher) enqueue(c count) {
	select {
	case p.queue <- c:
	default:
		p.full.Add(1)
	}
}

// flush takes what each window has, and drops the counts of posts without readers if only live ones are to be
// pushed. Where nobody says which those are, all are pushed. The lock is held for no more than the taking.
func (p *pusher) flush(onlyLive bool) {
	spare := make([]int64, len(p.last))
	for range time.Tick(p.window) {
		p.mu.Lock()
		p.last, spare = spare, p.last
		p.mu.Unlock()
		var live map[int]bool
		if onlyLive {
			live = p.live()
		}
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

// live are the posts that have readers; nil if nobody says.
func (p *pusher) live() map[int]bool {
	answer, err := p.client.Get(p.url + "/live")
	if err != nil {
		return nil
	}
	defer answer.Body.Close()
	var posts []int
	if json.NewDecoder(answer.Body).Decode(&posts) != nil {
		return nil
	}
	live := map[int]bool{}
	for _, post := range posts {
		live[post] = true
	}
	return live
}

func (p *pusher) drain() {
	for c := range p.queue {
		began := time.Now()
		pushed := p.push(c)
		p.pushNs.Add(time.Since(began).Nanoseconds())
		if pushed {
			p.pushed.Add(1)
		} else {
			p.failed.Add(1)
		}
	}
}

// push pushes a count. It reports whether it was taken.
func (p *pusher) push(c count) bool {
	url := p.url + "/publish/" + strconv.Itoa(c.post)
	answer, err := p.client.Post(url, "text/plain", strings.NewReader(strconv.FormatInt(c.n, 10)))
	if err != nil {
		return false
	}
	answer.Body.Close()
	return answer.StatusCode == http.StatusNoContent
}

// ledger reads the ledger, its places before what was offered.
func (p *pusher) ledger() *hub.Pushes {
	return &hub.Pushes{Pushed: p.pushed.Load(), Failed: p.failed.Load(), Full: p.full.Load(), Unrouted: p.unrouted.Load(),
		Merged: p.merged.Load(), PushS: float64(p.pushNs.Load()) / 1e9, Offered: p.offered.Load()}
}
