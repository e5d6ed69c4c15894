package profile

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	pprof "github.com/google/pprof/profile"

	"github.com/line-rate/line-rate/lab/internal/program"
)

const (
	// beginAfter is how long after the requests the window begins, so that they reach all processes in time.
	beginAfter = 200 * time.Millisecond
	// answerWithin is how long after the window's end an answer may take.
	answerWithin = 30 * time.Second
	// openWithin is how long a process may take to accept a connection.
	openWithin = 5 * time.Second
	// largest limits the bytes of a process's answer. It only protects memory.
	largest = 256 << 20
)

// A Source is one process that serves its profiles. The zero value is no source.
type Source struct{ name, network, address string }

func (s Source) String() string { return s.name }

// Sources are the processes that one name stands for: http://127.0.0.1:PORT, a socket, or the directory of a server's
// --pprof-sockets. A process on another machine is reached through a tunnel: pprof has no authentication, so it must not be
// open to a network.
func Sources(name string) (all []Source, err error) {
	if strings.Contains(name, "://") {
		u, err := url.Parse(name)
		if err != nil || u.Scheme != "http" || u.Hostname() == "" || u.Port() == "" || u.User != nil ||
			strings.Trim(u.Path, "/")+u.RawQuery+u.Fragment != "" {
			return nil, fmt.Errorf("%s: give http://HOST:PORT, as in http://127.0.0.1:6060", name)
		}
		addr, ok := program.LoopbackAddr(u.Host)
		if !ok {
			return nil, fmt.Errorf("%s: pprof is asked on loopback only; open a tunnel with ssh -N -L "+
				"127.0.0.1:%[2]s:127.0.0.1:%[2]s %[3]s and give http://127.0.0.1:%[2]s", name, u.Port(), u.Hostname())
		}
		return []Source{{strings.TrimRight(name, "/"), "tcp", addr}}, nil
	}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("%s: no such directory; give http://127.0.0.1:PORT, or a server's --pprof-sockets", name)
	case err != nil:
		return nil, err
	case info.Mode()&os.ModeSocket != 0:
		return []Source{{name, "unix", name}}, nil
	case !info.IsDir():
		return nil, fmt.Errorf("%s: neither a directory nor a socket", name)
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
		return nil, fmt.Errorf("%s: no process serves pprof there; start the server with --pprof-sockets %s", name, name)
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
	if window < time.Second || window%time.Second != 0 {
		return nil, fmt.Errorf("a window of %v; profiles take whole seconds, from 1", window)
	}
	if len(sources) == 0 {
		return nil, errors.New("no process to take profiles of")
	}
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	at, parts := time.Now().Add(beginAfter), make([]part, len(sources))
	var all sync.WaitGroup
	for i, s := range sources {
		all.Go(func() {
			var err error
			if parts[i], err = s.take(ctx, at, window); err != nil {
				fail(fmt.Errorf("%s: %w", s, err)) // the first failure is kept
			}
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return merge(parts, window)
}

// A part is what one process sent.
type part struct {
	begin, end time.Time
	profiles   map[Kind]*pprof.Profile
}

// take asks one process for its profiles.
func (s Source) take(ctx context.Context, at time.Time, window time.Duration) (p part, err error) {
	within := beginAfter + window + answerWithin
	timed, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	client := http.Client{
		Transport: &http.Transport{
			DisableCompression: true, // profiles are compressed already
			DisableKeepAlives:  true,
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return (&net.Dialer{Timeout: openWithin}).DialContext(ctx, s.network, s.address)
			},
		},
		// A redirect could lead to another machine.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	// The host is a placeholder: the client connects to its source.
	ask := fmt.Sprintf("http://localhost/debug/pprof/window?seconds=%d", int(window.Seconds()))
	if s.network == "unix" { // else it may be on another machine, with another clock
		ask += fmt.Sprintf("&at=%d", at.UnixNano())
	}
	req, err := http.NewRequestWithContext(timed, http.MethodGet, ask, nil)
	if err != nil {
		return p, err
	}
	var body []byte
	resp, err := client.Do(req)
	if err == nil {
		defer resp.Body.Close()
		body, err = io.ReadAll(io.LimitReader(resp.Body, largest))
	}
	switch {
	case err == nil && resp.StatusCode == http.StatusNotFound:
		return p, errors.New("it serves no window of all profiles, as the lab's servers do; go tool pprof takes those of others")
	case err == nil && resp.StatusCode != http.StatusOK:
		return p, fmt.Errorf("answered %d: %.200q", resp.StatusCode, strings.TrimSpace(string(body)))
	case err == nil:
		return read(body)
	case ctx.Err() == nil && timed.Err() != nil:
		return p, fmt.Errorf("no whole answer within %v", within)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET),
		errors.Is(err, syscall.EPIPE):
		return p, errors.New("the process closed the connection, so it has probably ended")
	}
	if e, ok := errors.AsType[*net.OpError](err); ok {
		err = e.Err // without addresses, since messages name the source
	}
	return p, err
}

// read reads an endpoint's archive.
func read(archive []byte) (p part, err error) {
	files := map[string]*pprof.Profile{}
	for in := tar.NewReader(bytes.NewReader(archive)); ; {
		h, err := in.Next()
		if err == io.EOF {
			break
		}
		var data []byte
		if err == nil {
			data, err = io.ReadAll(in)
		}
		if err != nil {
			return p, fmt.Errorf("the %d bytes that it sent are no archive: %w", len(archive), err)
		}
		if files[h.Name], err = pprof.ParseData(data); err != nil {
			return p, fmt.Errorf("%s: it is no profile: %w", h.Name, err)
		}
		if strings.HasPrefix(h.Name, "begin/") {
			p.begin = h.ModTime
		} else {
			p.end = h.ModTime
		}
	}
	if !p.begin.Before(p.end) {
		return p, errors.New("its archive does not say when the window was")
	}
	p.profiles = map[Kind]*pprof.Profile{}
	for _, d := range docs {
		if p.profiles[d.Kind], err = p.clean(d, files); err != nil {
			return p, fmt.Errorf("%s: %w", d.Kind, err)
		}
	}
	return p, nil
}

// clean is a kind's profile with what belongs to the window and the load alone.
func (p part) clean(d KindDoc, files map[string]*pprof.Profile) (got *pprof.Profile, err error) {
	file := string(d.Kind) + ".pb.gz"
	if d.Kind == Allocs {
		file = string(Heap) + ".pb.gz" // which has both
	}
	before, after := files["begin/"+file], files["end/"+file]
	if before != nil {
		before = before.Copy() // heap and allocs have the same
	}
	switch {
	case d.Kind.OfMoment() && before != nil:
		got = before
	case d.Kind == CPU && after != nil:
		got = after
	case before != nil && after != nil:
		before.Scale(-1)
		if got, err = pprof.Merge([]*pprof.Profile{before, after}); err != nil {
			return nil, err
		}
	default:
		return nil, errors.New("it is missing in its archive")
	}
	got.TimeNanos, got.DurationNanos = p.begin.UnixNano(), p.end.Sub(p.begin).Nanoseconds()
	if d.Kind.OfMoment() {
		got.DurationNanos = 0
	}
	got.Sample = slices.DeleteFunc(got.Sample, func(s *pprof.Sample) bool { return slices.ContainsFunc(StackOf(s), IsProfiler) })
	// The path tells where the server was built.
	for _, m := range got.Mapping {
		if m.File != "" {
			m.File = filepath.Base(m.File)
		}
	}
	// Other sample types are not of the window: heap also has allocations since the process began.
	return got, errors.Join(keep(got, d), got.CheckValid())
}

// keep drops all sample types except a kind's own.
func keep(p *pprof.Profile, d KindDoc) error {
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
	_, err := columnOf(p, d.Kind, d.SampleType)
	return err
}

// merge adds the parts up.
func merge(parts []part, window time.Duration) (*Set, error) {
	set := &Set{Processes: len(parts), Window: window, Merged: map[Kind]*pprof.Profile{}}
	for _, kind := range Kinds() {
		var all []*pprof.Profile
		for _, p := range parts {
			all = append(all, p.profiles[kind])
		}
		merged, err := pprof.Merge(all)
		if err != nil {
			return nil, fmt.Errorf("%s: the processes' profiles do not fit together: %w", kind, err)
		}
		merged.DurationNanos /= int64(len(all)) // Merge adds durations up
		set.Merged[kind], set.Started = merged, time.Unix(0, merged.TimeNanos)
	}
	return set, nil
}
