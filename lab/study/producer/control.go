package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/line-rate/line-rate/lab/internal/program"
	"github.com/line-rate/line-rate/lab/study/event"
)

// A control starts and stops runs, one at a time.
type control struct {
	Settings

	mu   sync.Mutex     // held while a run stops, too
	run  run            // nil: none
	last *event.Figures // those of the last run that was stopped
}

// maxForMs is the longest that a rate can be set for: an hour.
const maxForMs = 3_600_000

// handler answers the paths of the control. Paths that change something take only POST.
func (c *control) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /start", c.start)
	mux.HandleFunc("POST /rate", c.rate)
	mux.HandleFunc("GET /figures", c.figures)
	mux.HandleFunc("POST /stop", c.stop)
	return mux
}

func (c *control) serve(ln net.Listener) error {
	srv := &http.Server{Handler: c.handler(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		IdleTimeout: 10 * time.Minute}
	return srv.Serve(ln)
}

func (c *control) start(w http.ResponseWriter, r *http.Request) {
	sink := r.URL.Query().Get("sink")
	if !program.LoopbackURL(sink) {
		refuse(w, http.StatusBadRequest, "sink: %q is not accepted; give http://HOST:PORT/ with a loopback host", sink)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.run != nil {
		refuse(w, http.StatusConflict, "a run is under way; POST /stop ends it")
		return
	}
	run, err := begin(c.Settings, sink)
	if err != nil {
		refuse(w, http.StatusInternalServerError, "%v", err)
		return
	}
	c.run, c.last = run, nil
	w.WriteHeader(http.StatusNoContent)
}

func (c *control) rate(w http.ResponseWriter, r *http.Request) {
	v := r.URL.Query().Get("per_second")
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > maxRate {
		refuse(w, http.StatusBadRequest, "per_second: %q is not accepted; give a whole number from 1 to %d", v, maxRate)
		return
	}
	var lasts int
	if v := r.URL.Query().Get("for_ms"); v != "" {
		if lasts, err = strconv.Atoi(v); err != nil || lasts < 1 || lasts > maxForMs {
			refuse(w, http.StatusBadRequest, "for_ms: %q is not accepted; give a whole number from 1 to %d", v, maxForMs)
			return
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.run == nil {
		refuse(w, http.StatusConflict, "nothing runs; POST /start begins a run")
		return
	}
	c.run.rate(n, time.Duration(lasts)*time.Millisecond)
	w.WriteHeader(http.StatusNoContent)
}

// figures reports on the run, or on the last one that was stopped.
func (c *control) figures(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.run != nil:
		answer(w, c.run.figures(r.URL.Query().Get("reset") == "1"))
	case c.last != nil:
		answer(w, *c.last)
	default:
		refuse(w, http.StatusConflict, "nothing was started; POST /start begins a run")
	}
}

func (c *control) stop(w http.ResponseWriter, _ *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.run == nil {
		refuse(w, http.StatusConflict, "nothing runs")
		return
	}
	f := c.run.stop()
	c.run, c.last = nil, &f
	answer(w, f)
}

func answer(w http.ResponseWriter, f event.Figures) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(f) // an error means that the client has gone
}

// refuse answers with one line of text.
func refuse(w http.ResponseWriter, code int, format string, args ...any) {
	http.Error(w, fmt.Sprintf(format, args...), code)
}
