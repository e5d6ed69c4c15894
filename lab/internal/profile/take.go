package profile

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	pprof "github.com/google/pprof/profile"

	"github.com/line-rate/line-rate/lab/internal/strict"
)

// answerWithin is how long after the window's end an answer may take.
const answerWithin = 30 * time.Second

// A Set is the profiles of one window, each merged over the processes.
//
// They lack the samples of profiling itself: the handler that waits for the window's end would be most of a block profile.
// A duration is the processes' average: they ran side by side, so durations do not add up.
type Set map[Kind]*pprof.Profile

// Take takes all kinds of profile over one window of whole seconds, from so many processes whose sockets are in a
// directory of --pprof-sockets. If one fails, all others are cancelled, so that the processes stop profiling.
//
// Mutex and block profiles depend on the server's sampling rates, and an event counts in the window in which it ends. The
// runtime counts memory when it collects garbage, and does so just before the window: heap describes the window's begin,
// and allocs the time from there to the last collection within it. Without one, allocs is empty.
func Take(ctx context.Context, dir string, processes int, window time.Duration) (Set, error) {
	paths, _ := filepath.Glob(filepath.Join(dir, "*.sock"))
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	parts := make([]Set, len(paths))
	var all sync.WaitGroup
	for i, path := range paths {
		all.Go(func() {
			var err error
			parts[i], err = take(ctx, path, window)
			// A listening socket shows a living process; the process id in the name does not, since
			// a server in the wire's namespaces has other ids, and the kernel uses ids again.
			if err != nil && !errors.Is(err, syscall.ECONNREFUSED) {
				fail(fmt.Errorf("%s: %w", path, err)) // the first failure stays
			}
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	parts = slices.DeleteFunc(parts, func(s Set) bool { return s == nil })
	if len(parts) != processes {
		return nil, fmt.Errorf("%d processes serve profiles in %s, and %d serve requests", len(parts), dir, processes)
	}
	set, err := Merge(parts)
	for _, p := range set {
		p.DurationNanos /= int64(processes)
	}
	return set, err
}

// Merge adds up profiles, and their durations.
func Merge(parts []Set) (Set, error) {
	set := Set{}
	for _, kind := range Kinds() {
		merged, err := pprof.Merge(strict.Map(parts, func(s Set) *pprof.Profile { return s[kind] }))
		if err != nil {
			return nil, fmt.Errorf("%s profiles that do not fit together: %w", kind, err)
		}
		set[kind] = merged
	}
	return set, nil
}

// take asks the process at a socket for its profiles.
func take(ctx context.Context, path string, window time.Duration) (Set, error) {
	client := http.Client{Timeout: window + answerWithin, Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		}}}
	ask := fmt.Sprintf("http://localhost/debug/pprof/window?seconds=%d", int(window.Seconds()))
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, ask, nil) // any such address is one
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("its profiles were asked for and did not come, so it has probably ended: %w", errors.Unwrap(err))
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(resp.Body)
		return nil, fmt.Errorf("answered %d: %.200q", resp.StatusCode, strings.TrimSpace(string(body)))
	}
	set := Set{}
	for archive := tar.NewReader(resp.Body); ; {
		h, err := archive.Next()
		if err == io.EOF && len(set) == len(taxonomy.Kind) {
			return set, nil
		}
		var p *pprof.Profile
		if err == nil {
			p, err = pprof.Parse(archive)
		}
		if err != nil {
			return nil, fmt.Errorf("what it sent is no archive of profiles: %w", err)
		}
		LeaveOutProfiler(p)
		for _, m := range p.Mapping { // whose path tells where the server was built
			m.File = m.File[strings.LastIndexByte(m.File, '/')+1:]
		}
		set[Kind(strings.TrimSuffix(h.Name, ".pb.gz"))] = p
	}
}

// LeaveOutProfiler drops the samples of profiling itself, which are no part of what the load costs.
func LeaveOutProfiler(p *pprof.Profile) {
	p.Sample = slices.DeleteFunc(p.Sample, func(s *pprof.Sample) bool { return taxonomy.Work[0].fits(StackOf(s)) })
}
