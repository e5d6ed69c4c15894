package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/line-rate/line-rate/lab/server/catalog"
)

// A netStack is Go's own net/http. Its write buffer is 4,096 bytes, which is also the
// default of the other stacks.
//
// Its limit: when it is shut down, net/http drops requests whose heads are not complete.
// The other stacks answer them.
type netStack struct {
	server *http.Server
	conns  atomic.Int64
}

func newNetHTTP(s Settings, v *service, routes []route) *netStack {
	n := &netStack{}
	d := time.Duration(s.SpinNs)
	mux := http.NewServeMux()
	for _, r := range routes {
		mux.HandleFunc(r.path, func(w http.ResponseWriter, req *http.Request) {
			if d > 0 {
				spin(d)
			}
			if req.Method != http.MethodGet && req.Method != http.MethodHead {
				answerHTTP(w, v, http.StatusMethodNotAllowed, problem("method not allowed"))
				return
			}
			body, err := r.body()
			if err != nil {
				answerHTTP(w, v, http.StatusInternalServerError, problem(err.Error()))
				return
			}
			if r.encoding != "" {
				w.Header().Set("Content-Encoding", r.encoding)
			}
			answerHTTP(w, v, http.StatusOK, body)
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		answerHTTP(w, v, http.StatusNotFound, problem("no such route"))
	})
	n.server = &http.Server{
		Handler: mux,
		// Nothing else tells how many connections are open.
		ConnState: func(_ net.Conn, now http.ConnState) {
			switch now {
			case http.StateNew:
				n.conns.Add(1)
			case http.StateClosed, http.StateHijacked:
				n.conns.Add(-1)
			}
		},
	}
	return n
}

// answerHTTP sends a body with its length. Without a length net/http would send bodies
// above 2 KB in chunks.
func answerHTTP(w http.ResponseWriter, v *service, code int, body []byte) {
	header := w.Header()
	header.Set("Content-Type", catalog.ContentType)
	header.Set("Content-Length", strconv.Itoa(len(body)))
	if v.leaving.Load() {
		header.Set("Connection", "close")
	}
	w.WriteHeader(code)
	_, _ = w.Write(body) // an error means that the client has gone; the next read reports it
}

func (n *netStack) serve(ln net.Listener) error {
	if err := n.server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (n *netStack) open() int { return int(n.conns.Load()) }

func (n *netStack) shutdown(patience time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_ = n.server.Shutdown(ctx) // the patience was over; see fiberStack
}
