package contest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/google/pprof/profile"

	"github.com/line-rate/line-rate/lab/internal/kinds"
	"github.com/line-rate/line-rate/lab/internal/perf"
	"github.com/line-rate/line-rate/lab/internal/probe"
	"github.com/line-rate/line-rate/lab/load"
)

// A source takes profiles of a server's processes.
type source struct {
	name  string
	hertz int // samples in a second of CPU time
	// can says why it takes none of a server; empty if it may.
	can  func(ctx context.Context, at load.Target, pids []int) string
	take func(ctx context.Context, at load.Target, pids []int, window time.Duration) (kinds.Counts, error)
}

// sources are in the order of trying. All servers of a comparison have the same.
func (w Why) sources() []source {
	return []source{
		{"pprof", 100, func(ctx context.Context, at load.Target, pids []int) string {
			if len(pids) > 1 {
				return "it sees one process, and there are several"
			}
			if _, err := pprof(ctx, at, "cmdline", time.Second); err != nil {
				return err.Error()
			}
			return ""
		}, func(ctx context.Context, at load.Target, _ []int, window time.Duration) (c kinds.Counts, err error) {
			text, err := pprof(ctx, at, fmt.Sprintf("profile?seconds=%.0f", window.Seconds()), window+answerWithin)
			if err != nil {
				return c, err
			}
			p, err := profile.Parse(bytes.NewReader(text))
			if err != nil {
				return c, fmt.Errorf("what /debug/pprof/profile answers is no profile: %w", err)
			}
			return kinds.OfProfile(p), nil
		}},
		{"perf", perf.Hertz, func(context.Context, load.Target, []int) string { return perf.Usable() },
			func(ctx context.Context, _ load.Target, pids []int, window time.Duration) (c kinds.Counts, err error) {
				stacks, err := perf.Record(ctx, w.Scratch, pids, window)
				if c = kinds.OfPerf(stacks); err == nil && c.Nameless {
					err = errors.New("it cannot name the kernel's functions (as root: sysctl kernel.kptr_restrict=0)")
				}
				return c, err
			}},
		{"ticks", 100, func(context.Context, load.Target, []int) string { return "" },
			func(ctx context.Context, _ load.Target, pids []int, window time.Duration) (c kinds.Counts, err error) {
				user, system := ticks(pids)
				select {
				case <-time.After(window):
				case <-ctx.Done():
					return c, context.Cause(ctx)
				}
				u, s := ticks(pids)
				user, system = u-user, s-system
				return kinds.Counts{Of: map[kinds.Kind]int64{kinds.User: user, kinds.System: system}, All: user + system}, nil
			}},
	}
}

// pprof asks a server for one of the pages of net/http/pprof.
func pprof(ctx context.Context, at load.Target, page string, within time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	t, err := probe.Transport(at)
	if err != nil {
		return nil, err
	}
	defer t.CloseIdleConnections()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at.URL, nil)
	if err == nil {
		r.URL, err = r.URL.Parse("/debug/pprof/" + page)
	}
	if err != nil {
		return nil, err
	}
	a, err := t.RoundTrip(r)
	if err != nil {
		return nil, plain(err)
	}
	defer a.Body.Close()
	if a.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("/debug/pprof is not served: status %d", a.StatusCode)
	}
	return io.ReadAll(io.LimitReader(a.Body, probe.MostBody))
}

// ticks are the times of processes in user space and in the kernel.
func ticks(pids []int) (user, system int64) {
	for _, pid := range pids {
		s, _ := statOf(pid) // nothing of one that has ended
		user, system = user+int64(s.UTime), system+int64(s.STime)
	}
	return user, system
}
