// Package endpoint serves a process's profiles on this machine by net/http/pprof. It listens on a
// unix socket, named after the process and in a directory closed to other users, or takes a
// listener that the caller has opened.
//
// Beside net/http/pprof's own pages there is Window, one request for all kinds of profile of one
// window. Each process serves its own, however many share a port, so the profile is that of the
// measured processes.
//
// Rates apply to the whole process and stay set when serving stops. The profiled process pays the cost of its profiles.
// There is no authentication: the directory's mode keeps other users out, and the caller must keep a TCP address on
// loopback.
package endpoint

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	httppprof "net/http/pprof"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/line-rate/line-rate/lab/internal/program"
)

// Window is the path of all profiles of one window: ?seconds=N. The answer is a tar archive with a file for each kind of
// package profile. Heap and goroutine are as at the window's begin, and the others are of the window alone.
const Window = "/debug/pprof/window"

const (
	// longest is the longest window in seconds.
	longest = 600
	// longestDir leaves room for a process's name in the path of a socket, which has at most 104 bytes on macOS.
	longestDir = 90
)

// Rates say how much a process samples of what it waits for, in the units of package runtime's
// functions.
type Rates struct {
	MutexFraction int // one in so many contended mutex events
	BlockRateNs   int // one blocking event for each so many nanoseconds blocked
}

// Check returns why sockets cannot be in dir. Profiles reveal what a process did, and anyone who can connect can slow it
// down. The directory must keep other users out, since not every system checks the mode of a socket.
func Check(dir string) error {
	if len(dir) > longestDir {
		return fmt.Errorf("%s is too long for the path of a socket: give one of at most %d bytes", dir, longestDir)
	}
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 || int(info.Sys().(*syscall.Stat_t).Uid) != os.Geteuid() {
		return fmt.Errorf("%s is no directory of your own that is closed to others; make one with mkdir -p -m 700", dir)
	}
	return nil
}

// Flag adds --pprof-sockets, which takes a directory that Check lets pass.
func Flag(fs program.Flags, dir *string) {
	fs.Func("pprof-sockets", "", func(v string) error {
		*dir = v
		return Check(v)
	})
}

// Serve opens a program's socket in the directory of its --pprof-sockets, which the caller has checked with Check, and
// serves the profiles on it until the process ends or stop is called. Without a directory it does nothing. On failure it
// prints a message that names the flag, and returns no stop and the exit status.
func Serve(dir string, rates Rates, p program.Program) (stop func(), status int) {
	if dir == "" {
		return func() {}, program.OK
	}
	path := filepath.Join(dir, strconv.Itoa(os.Getpid())+".sock")
	_ = os.Remove(path) // of a killed process with the same id
	ln, err := net.Listen("unix", path)
	if err != nil {
		p.Say("pprof pid=%d: --pprof-sockets: %v", os.Getpid(), err)
		return nil, program.Failure
	}
	return ServeOn(ln, rates, p), program.OK
}

// ServeOn does the same on a listener that is open already, and closes it. stop breaks off the window being taken.
//
// It has its own mux: a server on http.DefaultServeMux would also serve whatever any dependency registered there.
func ServeOn(ln net.Listener, rates Rates, p program.Program) (stop func()) {
	// The block rate is not a threshold: a shorter event is sampled with a probability proportional to its length, and
	// weighted accordingly.
	runtime.SetMutexProfileFraction(rates.MutexFraction)
	runtime.SetBlockProfileRate(rates.BlockRateNs)

	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", httppprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", httppprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", httppprof.Profile)
	mux.HandleFunc(Window, window)
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute}
	go func() {
		if err := srv.Serve(ln); err != nil && !errors.Is(err, http.ErrServerClosed) {
			p.Say("pprof: %v", err)
		}
	}()
	p.Say("pprof pid=%d listening addr=%s", os.Getpid(), ln.Addr())
	return func() {
		_ = srv.Close()
		_ = ln.Close() // removes the socket; the server does not know a listener that it does not serve yet
	}
}

// deltas are the kinds of which net/http/pprof gives what a window added, and kinds are all files of a window.
var (
	deltas = []string{"mutex", "block", "allocs"}
	kinds  = append([]string{"cpu", "heap", "goroutine"}, deltas...)
)

// A file is what a handler of net/http/pprof writes, kept in memory. Where the handler fails it is no profile.
type file struct{ bytes.Buffer }

func (*file) Header() http.Header { return http.Header{} }
func (*file) WriteHeader(int)     {}

// window takes one window. There is only one at a time, since a process has one CPU profile.
func window(w http.ResponseWriter, r *http.Request) {
	seconds, err := strconv.Atoi(r.FormValue("seconds"))
	if err != nil || seconds < 1 || seconds > longest {
		http.Error(w, fmt.Sprintf("seconds: give a whole number from 1 to %d", longest), http.StatusBadRequest)
		return
	}
	// Until a collection, memory profiles describe an earlier time, and the window's first collection would add what the
	// process allocated at its start.
	runtime.GC()
	files := map[string]*file{}
	for _, kind := range kinds {
		files[kind] = &file{}
	}
	if err := pprof.StartCPUProfile(files["cpu"]); err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	defer pprof.StopCPUProfile() // does nothing the second time
	var taken sync.WaitGroup
	for _, kind := range deltas {
		taken.Go(func() { httppprof.Handler(kind).ServeHTTP(files[kind], r) })
	}
	_ = pprof.Lookup("heap").WriteTo(files["heap"], 0)
	_ = pprof.Lookup("goroutine").WriteTo(files["goroutine"], 0)
	taken.Wait()
	pprof.StopCPUProfile()
	w.Header().Set("Content-Type", "application/x-tar")
	out := tar.NewWriter(w)
	for _, kind := range kinds {
		_ = out.WriteHeader(&tar.Header{Name: kind + ".pb.gz", Mode: 0o600, Size: int64(files[kind].Len())})
		_, _ = files[kind].WriteTo(out)
	}
	_ = out.Close()
}
