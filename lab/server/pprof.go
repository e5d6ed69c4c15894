package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"runtime"
	"strconv"
	"time"
)

// The longest profile that can be asked for, and how long its answer may take.
const longestProfile = 10 * time.Minute

// startPprof turns profiles on if the settings say so, and serves them until
// the process ends or the returned function is called. If it fails it says so
// and returns the exit code.
func startPprof(s Settings) (stop func(), code int) {
	var ln net.Listener
	switch {
	case s.Pprof:
		if ln, code = listen(s.PprofAddr, "pprof-addr"); code != exitOK {
			return nil, code
		}
	case s.PprofSockets != "":
		var err error
		if ln, err = listenSocket(s.PprofSockets); err != nil {
			say("pprof pid=%d: --pprof-sockets: %v", os.Getpid(), err)
			return nil, exitFailure
		}
	default:
		return func() {}, exitOK
	}
	// The block rate is no threshold: an event shorter than the rate is sampled
	// in proportion to its length, and counts for as much more.
	runtime.SetMutexProfileFraction(s.MutexFraction)
	runtime.SetBlockProfileRate(s.BlockRateNs)
	return servePprof(ln), exitOK
}

// servePprof serves the profiles on ln until the returned function is called.
// That one cuts short the profiles being taken: it is called when the process
// is to end, and a profile of a window in which the server stops is of no use.
//
// The mux is its own. net/http/pprof puts its handlers on http.DefaultServeMux
// when it is imported, and a server on that mux also serves whatever else any
// dependency put there.
func servePprof(ln net.Listener) (stop func()) {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)

	srv := &http.Server{
		Handler:           bounded(new(windows).handler(mux)),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      longestProfile,
		IdleTimeout:       time.Minute,
	}
	go func() {
		if err := srv.Serve(ln); err != nil && !errors.Is(err, http.ErrServerClosed) {
			say("pprof: %v", err)
		}
	}()
	say("pprof pid=%d listening addr=%s", os.Getpid(), ln.Addr())
	return func() { _ = srv.Close() } // closes the listener, which removes its socket
}

// bounded refuses windows longer than longestProfile. net/http/pprof does not:
// it puts the write timeout off by as long as it is asked for.
func bounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Not FormValue, which takes the body that symbol's handler reads.
		if sec, err := strconv.ParseFloat(r.URL.Query().Get("seconds"), 64); err == nil && sec > longestProfile.Seconds() {
			http.Error(w, fmt.Sprintf("seconds: at most %.0f", longestProfile.Seconds()), http.StatusBadRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}
