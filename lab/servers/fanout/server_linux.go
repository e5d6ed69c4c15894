package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/line-rate/line-rate/lab/servers/fanout/hub"
)

// A server counts likes, and has the readers of a post or somebody to whom it pushes.
type server struct {
	settings
	hub    *hub.Hub
	pusher *pusher        // nil: publish likes here
	likes  []atomic.Int64 // by post
}

func newServer(s settings) *server {
	srv := &server{settings: s, hub: hub.New(s.hub), likes: make([]atomic.Int64, s.hub.Topics)}
	if s.pushTo != nil {
		srv.pusher = newPusher(s)
	}
	return srv
}

func (s *server) serve(ln net.Listener) error {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /like/{post}", s.of(s.like))
	mux.HandleFunc("POST /publish/{post}", s.of(s.publish))
	mux.HandleFunc("GET /events/{post}", s.of(s.events))
	mux.HandleFunc("GET /live", s.live)
	mux.HandleFunc("GET /ledger", s.ledger)
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 10 * time.Minute}
	return srv.Serve(ln)
}

// of finds the post that a request names.
func (s *server) of(do func(w http.ResponseWriter, r *http.Request, post int)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		post, err := strconv.Atoi(r.PathValue("post"))
		if err != nil || post < 0 || post >= len(s.likes) {
			http.Error(w, "there is no such post", http.StatusNotFound)
			return
		}
		do(w, r, post)
	}
}

func (s *server) like(w http.ResponseWriter, _ *http.Request, post int) {
	count := s.likes[post].Add(1)
	if s.pusher != nil {
		s.pusher.offer(post, count)
	} else {
		s.hub.Publish(post, count)
	}
	w.WriteHeader(http.StatusNoContent)
}

func (s *server) publish(w http.ResponseWriter, r *http.Request, post int) {
	var count int64
	if _, err := fmt.Fscan(r.Body, &count); err != nil {
		http.Error(w, "the body has to be a count", http.StatusBadRequest)
		return
	}
	s.hub.Publish(post, count)
	w.WriteHeader(http.StatusNoContent)
}

// events writes a post's events until its reader goes away.
func (s *server) events(w http.ResponseWriter, r *http.Request, post int) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	control := http.NewResponseController(w)
	// The head leaves after the subscription, so a reader that has it misses nothing.
	sub := s.hub.Subscribe(post)
	defer sub.Leave()
	err := control.Flush()
	for err == nil {
		select {
		case <-r.Context().Done():
			return
		case e := <-sub.Events:
			if _, err = w.Write(e.Text); err == nil {
				err = control.Flush()
			}
			sub.Wrote(1, err)
		}
	}
}

// live answers which posts somebody watches.
func (s *server) live(w http.ResponseWriter, _ *http.Request) {
	posts := []int{}
	for post := range s.likes {
		if slices.Max(s.hub.Live(post)) > 0 {
			posts = append(posts, post)
		}
	}
	answer(w, posts)
}

func (s *server) ledger(w http.ResponseWriter, _ *http.Request) {
	l := hub.Told{Ledger: s.hub.Ledger(), ReadersAt: s.readers, Resident: hub.Resident(),
		Shards: make([]int64, max(1, s.hub.Shards))}
	if s.pusher != nil {
		l.Push = s.pusher.ledger()
	}
	for post := range s.likes {
		for i, n := range s.hub.Live(post) {
			l.Shards[i] += n
		}
	}
	answer(w, l)
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // who asked is gone
}
