// Package pprofsock serves a process's profiles to those on this machine who
// may have them: net/http/pprof on a unix socket that is named after the
// process, in a directory that is closed to others, or on a listener that the
// caller has opened.
//
// Its stance is that what is profiled is what is measured. A process that
// serves does so itself, however many of them share a port, and the profiles of
// one window can be taken together (see windows), so that what one kind shows
// and what another shows is the same load.
//
// Its limits: rates are of a whole process and stay set when serving stops. A
// profile is taken by what it is of and costs it what it costs. Nobody is asked
// who he is: the directory's mode keeps others out, and a TCP address, which
// has none, is the caller's to keep on loopback. A window has at most ten
// minutes.
package pprofsock

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

// Rates say how much is sampled of what a process waits for, as package
// runtime's functions take them.
type Rates struct {
	MutexFraction int // one in so many contended mutex events
	BlockRateNs   int // one blocking event for each so many nanoseconds blocked
}

// Serve opens this process's socket in dir, which Check has been asked about,
// and serves the profiles on it until the process ends or the returned function
// is called. What there is to tell of it goes to say.
func Serve(dir string, rates Rates, say func(format string, args ...any)) (stop func(), err error) {
	ln, err := listen(dir)
	if err != nil {
		return nil, err
	}
	return ServeOn(ln, rates, say), nil
}

// ServeOn does as Serve on a listener that is open already, and closes it. The
// returned function cuts short the profiles being taken: it is called when the
// process is to end, and a profile of a window in which the server stops is of
// no use.
//
// The mux is its own. net/http/pprof puts its handlers on http.DefaultServeMux
// when it is imported, and a server on that mux also serves whatever else any
// dependency put there.
func ServeOn(ln net.Listener, rates Rates, say func(format string, args ...any)) (stop func()) {
	// The block rate is no threshold: an event shorter than the rate is sampled
	// in proportion to its length, and counts for as much more.
	runtime.SetMutexProfileFraction(rates.MutexFraction)
	runtime.SetBlockProfileRate(rates.BlockRateNs)

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
	return func() {
		_ = srv.Close()
		_ = ln.Close() // which removes its socket; of one not served yet the server knows nothing
	}
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
