package capture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/google/pprof/profile"

	"github.com/line-rate/line-rate/lab/internal/profiles"
)

const (
	// answerWithin is how long after the window's end an answer may take.
	answerWithin = 30 * time.Second

	// beginAfter is how long before the window requests are sent, so that they
	// reach all processes in time.
	beginAfter = 150 * time.Millisecond

	// largest limits the size of one profile in bytes. A server's has some tens of
	// kilobytes; the limit only protects memory.
	largest = 64 << 20
)

// A part is one kind of profile of one process, as received.
type part struct {
	source Source
	kind   profiles.Kind
	*profile.Profile
}

// Capture takes profiles of all kinds from all sources at once, over a window
// of whole seconds, the unit of net/http/pprof. If one fails, all other
// requests are cancelled, so that the processes stop profiling. A missing
// profile is an error, never a gap.
func Capture(ctx context.Context, sources []Source, window time.Duration) (*Set, error) {
	parts, err := take(ctx, sources, window)
	if err != nil {
		return nil, err
	}
	return merge(parts, len(sources), window)
}

// take requests each kind from each source. It first connects and sends a small
// request on each connection, so that only one write each is left before the
// window begins, even through a tunnel. Processes on this machine are told when
// to begin, by their common clock: processes that share a busy core read their
// requests at different times.
func take(ctx context.Context, sources []Source, window time.Duration) ([]part, error) {
	if window < time.Second || window%time.Second != 0 {
		return nil, fmt.Errorf("a window of %v; profiles take whole seconds, from 1", window)
	}
	if len(sources) == 0 {
		return nil, errors.New("no process to take profiles of")
	}
	for i, s := range sources {
		if slices.ContainsFunc(sources[:i], func(o Source) bool { return o.network == s.network && o.address == s.address }) {
			return nil, fmt.Errorf("%s is given twice", s)
		}
	}

	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	parts := make([]part, 0, len(sources)*len(profiles.Kinds()))
	for _, s := range sources {
		for _, k := range profiles.Kinds() {
			parts = append(parts, part{source: s, kind: k})
		}
	}
	var at time.Time // when they are to begin
	begin := make(chan struct{})
	var open, all sync.WaitGroup
	open.Add(len(parts))
	for i := range parts {
		all.Go(func() {
			p := &parts[i]
			client := p.source.client()
			defer client.CloseIdleConnections()
			_, err := ask(ctx, client, opening(p.kind), openWithin)
			open.Done()
			if err == nil {
				<-begin
				p.Profile, err = p.fetch(ctx, client, window, at)
			}
			if err != nil {
				fail(fmt.Errorf("%s of %s: %w", p.kind, p.source, err)) // the first failure is kept
			}
		})
	}
	open.Wait()
	at = time.Now().Add(beginAfter)
	close(begin)
	all.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return parts, nil
}

// opening is the first request on a connection. For heap it forces a garbage
// collection: until then memory profiles describe an earlier time, and the
// window's first collection would add what the process allocated at its start.
func opening(k profiles.Kind) string {
	if k == profiles.Heap {
		return "heap?gc=1"
	}
	return "cmdline"
}

// fetch requests a profile of the window, or of its first moment.
func (p *part) fetch(ctx context.Context, client *http.Client, window time.Duration, at time.Time) (*profile.Profile,
	error) {
	what := string(p.kind)
	if p.kind == profiles.CPU {
		what = "profile"
	}
	// The lab's server then takes all kinds at once; other servers ignore the word
	// and take each kind when its request comes.
	what += "?together"
	if p.source.network == "unix" { // else the source may be on another machine, with another clock
		what += fmt.Sprintf("&at=%d", at.UnixNano())
	}
	if !p.kind.OfMoment() {
		what += fmt.Sprintf("&seconds=%d", int(window.Seconds()))
	}
	data, err := ask(ctx, client, what, beginAfter+window+answerWithin)
	if err != nil {
		return nil, err
	}
	got, err := profile.Parse(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("the %d bytes it sent are no profile: %w", len(data), err)
	}
	return got, nil
}

// ask sends a request and returns the body of its answer.
func ask(ctx context.Context, client *http.Client, what string, within time.Duration) ([]byte, error) {
	timed, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	// The host is only a placeholder: the client connects to its source.
	req, err := http.NewRequestWithContext(timed, http.MethodGet, "http://localhost/debug/pprof/"+what, nil)
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(req)
	var body []byte
	if err == nil {
		defer resp.Body.Close()
		body, err = io.ReadAll(io.LimitReader(resp.Body, largest+1))
	}
	switch {
	case err == nil && len(body) > largest:
		return nil, fmt.Errorf("sent more than %d bytes", largest)
	case err == nil && resp.StatusCode == http.StatusOK:
		return body, nil
	case err == nil:
		line, _, _ := strings.Cut(strings.TrimSpace(string(body)), "\n")
		return nil, fmt.Errorf("answered %d: %.200q", resp.StatusCode, line)
	case ctx.Err() == nil && timed.Err() != nil:
		return nil, fmt.Errorf("no whole answer within %v", within)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET),
		errors.Is(err, syscall.EPIPE):
		return nil, errEnded
	default:
		return nil, bare(err)
	}
}
