// Package endpoint serves a process's profiles on this machine: net/http/pprof on a unix socket that is named after the
// process, in a directory closed to other users, or on a listener that the caller has opened.
//
// Beside net/http/pprof's own pages there is Window, one request for all kinds of profile of one window. Each process
// serves its own, however many share a port, so what is profiled is what is measured.
//
// Rates apply to the whole process and stay set when serving stops. The profiled process pays the cost of its profiles.
// There is no authentication: the directory's mode keeps other users out, and the caller must keep a TCP address on
// loopback, where only requests to a loopback name are answered.
package endpoint

import (
	"errors"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"runtime"
	"strings"
	"time"
)

// Rates say how much is sampled of what a process waits for, in the units of package runtime's functions.
type Rates struct {
	MutexFraction int // one in so many contended mutex events
	BlockRateNs   int // one blocking event for each so many nanoseconds blocked
}

// Serve opens this process's socket in dir and serves the profiles on it until the process ends or stop is called. The
// caller must have checked dir with Check. Messages go to say.
func Serve(dir string, rates Rates, say func(format string, args ...any)) (stop func(), err error) {
	ln, err := listen(dir)
	if err != nil {
		return nil, err
	}
	return ServeOn(ln, rates, say), nil
}

// ServeOn does the same on a listener that is open already, and closes it. stop breaks off the window being taken.
//
// It has its own mux: a server on http.DefaultServeMux would also serve whatever any dependency registered there.
func ServeOn(ln net.Listener, rates Rates, say func(format string, args ...any)) (stop func()) {
	// The block rate is not a threshold: a shorter event is sampled with a probability proportional to its length, and
	// weighted accordingly.
	runtime.SetMutexProfileFraction(rates.MutexFraction)
	runtime.SetBlockProfileRate(rates.BlockRateNs)

	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc(Window, window)
	srv := &http.Server{Handler: local(ln.Addr(), mux), ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute}
	go func() {
		if err := srv.Serve(ln); err != nil && !errors.Is(err, http.ErrServerClosed) {
			say("pprof: %v", err)
		}
	}()
	say("pprof pid=%d listening addr=%s", os.Getpid(), ln.Addr())
	return func() {
		_ = srv.Close()
		_ = ln.Close() // removes the socket; the server does not know a listener that it does not serve yet
	}
}

// local refuses requests over TCP that name another host than this machine: a page in a browser can have a name of its own
// lead to a loopback address, and would then read what comes back. The port may be another, since a tunnel's is.
func local(at net.Addr, next http.Handler) http.Handler {
	if _, ok := at.(*net.TCPAddr); !ok {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			name = strings.Trim(r.Host, "[]")
		}
		ip := net.ParseIP(name)
		if !strings.EqualFold(name, "localhost") && (ip == nil || !ip.IsLoopback()) {
			http.Error(w, "profiles are served to 127.0.0.1, [::1] or localhost", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
