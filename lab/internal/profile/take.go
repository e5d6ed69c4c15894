package profile

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	pprof "github.com/google/pprof/profile"
)

const (
	// answerWithin is how long after the window's end an answer may take.
	answerWithin = 30 * time.Second
	// openWithin is how long a process may take to accept a connection.
	openWithin = 5 * time.Second
	// filesSent is how many files a process's archive has.
	filesSent = 8
)

// A Source is one process that serves its profiles. The zero value is no source.
type Source struct{ name, network, address string }

func (s Source) String() string { return s.name }

// Sources are the processes that one name stands for: http://127.0.0.1:PORT, or the directory of a server's
// --pprof-sockets. A process on another machine is reached through a tunnel: pprof has no authentication, so it must not be
// open to a network.
func Sources(name string) (all []Source, err error) {
	if at, ok := strings.CutPrefix(strings.TrimRight(name, "/"), "http://"); ok {
		host, port, err := net.SplitHostPort(at)
		ip, _ := netip.ParseAddr(host)
		switch {
		case err != nil || port == "":
			return nil, fmt.Errorf("%s: give http://HOST:PORT, as in http://127.0.0.1:6060", name)
		case host != "localhost" && !ip.Unmap().IsLoopback():
			return nil, fmt.Errorf("%s: pprof is asked on loopback only; open a tunnel with ssh -N -L "+
				"127.0.0.1:%[2]s:127.0.0.1:%[2]s %[3]s and give http://127.0.0.1:%[2]s", name, port, host)
		}
		return []Source{{name, "tcp", at}}, nil
	}
	paths, _ := filepath.Glob(filepath.Join(name, "*.sock"))
	for _, path := range paths {
		// A living process is known by its listening socket, not by the process id in the name: a server in the wire's
		// namespaces has other process ids, and ids are used again.
		if conn, err := net.DialTimeout("unix", path, openWithin); err == nil {
			conn.Close()
			all = append(all, Source{path, "unix", path})
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no process serves pprof there; start the server with --pprof-sockets %s, "+
			"or give http://127.0.0.1:PORT", name, name)
	}
	return all, nil
}

// A Set is the profiles of one window, each merged over the processes.
type Set struct {
	Processes int
	Started   time.Time // by the earliest process
	Window    time.Duration

	// Merged has the processes' samples added up, without those of profiling itself: the handler that waits for the window's
	// end would be most of a block profile. A profile's time is the window's begin, and its duration the processes'
	// average: they ran side by side, so durations do not add up.
	Merged map[Kind]*pprof.Profile
}

// Take takes all kinds of profile from all sources, over one window of whole seconds. If one fails, all others are
// cancelled, so that the processes stop profiling.
//
// Mutex and block profiles depend on the server's sampling rates, and an event counts in the window in which it ends. The
// runtime counts memory when it collects garbage, and does so just before the window: heap describes the window's begin,
// and allocs the time from there to the last collection within it. Without one, allocs is empty.
func Take(ctx context.Context, sources []Source, window time.Duration) (*Set, error) {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	parts := make([]map[Kind]*pprof.Profile, len(sources))
	var all sync.WaitGroup
	for i, s := range sources {
		all.Go(func() {
			var err error
			if parts[i], err = s.take(ctx, window); err != nil {
				fail(fmt.Errorf("%s: %w", s, err)) // the first failure is kept
			}
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	set := &Set{Processes: len(parts), Window: window, Merged: map[Kind]*pprof.Profile{}}
	for _, kind := range Kinds() {
		var of []*pprof.Profile
		for _, p := range parts {
			of = append(of, p[kind])
		}
		merged, err := pprof.Merge(of)
		if err != nil {
			return nil, fmt.Errorf("%s: the processes' profiles do not fit together: %w", kind, err)
		}
		merged.DurationNanos /= int64(len(of)) // Merge adds durations up
		set.Merged[kind], set.Started = merged, time.Unix(0, merged.TimeNanos)
	}
	return set, nil
}

// take asks one process for its profiles.
func (s Source) take(ctx context.Context, window time.Duration) (map[Kind]*pprof.Profile, error) {
	client := http.Client{Timeout: window + answerWithin, Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{Timeout: openWithin}).DialContext(ctx, s.network, s.address)
		}}}
	// The host is a placeholder: the client connects to its source.
	ask := fmt.Sprintf("http://localhost/debug/pprof/window?seconds=%d", int(window.Seconds()))
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, ask, nil)
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(req)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return nil, errors.New("the process closed the connection, so it has probably ended")
	case err != nil:
		return nil, errors.Unwrap(err) // without the placeholder
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
		return read(resp.Body)
	case http.StatusNotFound:
		return nil, errors.New("it serves no window of all profiles, as the lab's servers do; go tool pprof takes those of others")
	}
	body, _ := io.ReadAll(resp.Body)
	return nil, fmt.Errorf("answered %d: %.200q", resp.StatusCode, strings.TrimSpace(string(body)))
}

// read reads an endpoint's archive, and keeps what belongs to the window and the load alone.
func read(in io.Reader) (map[Kind]*pprof.Profile, error) {
	files := map[string]*pprof.Profile{}
	var times []time.Time
	for archive := tar.NewReader(in); ; {
		h, err := archive.Next()
		if err == io.EOF && len(files) == filesSent {
			break
		}
		if err == nil {
			times = append(times, h.ModTime)
			files[h.Name], err = pprof.Parse(archive)
		}
		if err != nil {
			return nil, fmt.Errorf("what it sent is no archive of profiles: %w", err)
		}
	}
	begin, end := times[0], times[len(times)-1]
	kinds := map[Kind]*pprof.Profile{}
	for _, d := range docs {
		file := string(d.Kind) + ".pb.gz"
		if d.Kind == Allocs {
			file = string(Heap) + ".pb.gz" // which has both
		}
		p := files["end/"+file] // of the window alone if it has no begin
		if begin := files["begin/"+file]; begin != nil {
			before := begin.Copy() // heap and allocs have the same
			if d.Kind.OfMoment() {
				p = before
			} else {
				before.Scale(-1)
				var err error
				if p, err = pprof.Merge([]*pprof.Profile{before, p}); err != nil {
					return nil, fmt.Errorf("%s: %w", d.Kind, err)
				}
			}
		}
		if p.TimeNanos, p.DurationNanos = begin.UnixNano(), end.Sub(begin).Nanoseconds(); d.Kind.OfMoment() {
			p.DurationNanos = 0
		}
		LeaveOutProfiler(p)
		for _, m := range p.Mapping { // whose path tells where the server was built
			m.File = m.File[strings.LastIndexByte(m.File, '/')+1:]
		}
		keep(p, d)
		kinds[d.Kind] = p
	}
	return kinds, nil
}

// LeaveOutProfiler drops the samples of profiling itself, which are no part of what the load costs.
func LeaveOutProfiler(p *pprof.Profile) {
	p.Sample = slices.DeleteFunc(p.Sample, func(s *pprof.Sample) bool { return works[0].fits(StackOf(s)) })
}

// keep drops all sample types except a kind's own: heap also has allocations since the process began.
func keep(p *pprof.Profile, d KindDoc) {
	var types []*pprof.ValueType
	var at []int
	for i, t := range p.SampleType { // the kind's own type is the last in each file
		if t.Type == d.Events || t.Type == d.SampleType {
			types, at = append(types, t), append(at, i)
		}
	}
	for _, s := range p.Sample {
		for i, j := range at { // which is i at least
			s.Value[i] = s.Value[j]
		}
		s.Value = s.Value[:len(at)]
	}
	p.SampleType, p.DefaultSampleType = types, d.SampleType
}
