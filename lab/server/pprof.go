package main

import (
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"runtime"
	"time"
)

const (
	// One in five contended mutex events is sampled, and blocking events in
	// proportion to their time over a millisecond: entry 09's rates, without
	// which its shares cannot be compared.
	mutexFraction = 5
	blockRateNS   = 1_000_000

	// The longest profile that can be asked for. net/http/pprof refuses a
	// longer one itself, by this server's write timeout.
	longestProfile = 10 * time.Minute
)

// servePprof turns the profiles on and serves them on ln until the process
// ends.
//
// The mux is its own. net/http/pprof puts its handlers on http.DefaultServeMux
// when it is imported, and a server on that mux also serves whatever else any
// dependency put there.
func servePprof(ln net.Listener) {
	runtime.SetMutexProfileFraction(mutexFraction)
	runtime.SetBlockProfileRate(blockRateNS)

	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)

	srv := &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      longestProfile,
		IdleTimeout:       time.Minute,
	}
	go func() {
		if err := srv.Serve(ln); err != nil {
			say("pprof: %v", err)
		}
	}()
	say("pprof pid=%d listening addr=%s", os.Getpid(), ln.Addr())
}
