package main

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/line-rate/line-rate/lab/servers/fanout/hub"
)

const queueRoom = 512 // counts that wait to be pushed, as the series printed

// A pusher carries counts to another process, as the series' entries 15 to 17 do: a queue with a set room, and
// drainers that each take one count at a time and post it.
//
//	offer ─► queue ─► drainer ─► POST                      each count; what finds the queue full is lost
//	offer ─► window ─► queue ─► drainer ─► POST            the last count of each post, once in a window
//
// It keeps a ledger: each count that is offered is pushed, lost at the queue, failed, merged into a later
// one of its window, kept back since nobody watches its post, or still under way.
type pusher struct {
	settings
	client *http.Client
	queue  chan count

	mu   sync.Mutex
	told hub.Pushes
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
	p := &pusher{settings: s, client: &http.Client{Transport: t, Timeout: 10 * time.Second},
		queue: make(chan count, queueRoom), last: make([]int64, s.hub.Topics)}
	for range s.drainers {
		go p.drain()
	}
	if s.window > 0 {
		go p.flush()
	}
	return p
}

// offer gives a post's count, which is above zero, and does not wait.
func (p *pusher) offer(post int, n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told.Offered++
	if p.window == 0 {
		p.enqueue(count{post, n})
		return
	}
	if p.last[post] > 0 {
		p.told.Merged++
	}
	p.last[post] = max(p.last[post], n) // two likes may arrive in the other order
}

// enqueue needs the lock.
func (p *pusher) enqueue(c count) {
	select {
	case p.queue <- c:
	default:
		p.told.Full++
	}
}

// flush pushes what each window has, but for the counts of posts without readers if only live ones are to be pushed.
func (p *pusher) flush() {
	for range time.Tick(p.window) {
		var live []int
		if p.live {
			live = p.watched()
		}
		p.mu.Lock()
		for post, n := range p.last {
			switch {
			case n == 0:
			case p.live && !slices.Contains(live, post):
				p.told.Unrouted++
			default:
				p.enqueue(count{post, n})
			}
		}
		clear(p.last)
		p.mu.Unlock()
	}
}

// watched are the posts that have readers; none if nobody says.
func (p *pusher) watched() (posts []int) {
	answer, err := p.client.Get("http://readers/live")
	if err != nil {
		return nil
	}
	defer answer.Body.Close()
	_ = json.NewDecoder(answer.Body).Decode(&posts)
	return posts
}

func (p *pusher) drain() {
	for c := range p.queue {
		began := time.Now()
		url := "http://readers/publish/" + strconv.Itoa(c.post)
		answer, err := p.client.Post(url, "text/plain", strings.NewReader(strconv.FormatInt(c.n, 10)))
		p.mu.Lock()
		p.told.PushS += time.Since(began).Seconds()
		if err == nil && answer.StatusCode == http.StatusNoContent {
			p.told.Pushed++
		} else {
			p.told.Failed++
		}
		p.mu.Unlock()
		if err == nil {
			answer.Body.Close()
		}
	}
}

func (p *pusher) ledger() *hub.Pushes {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.told
	return &l
}
