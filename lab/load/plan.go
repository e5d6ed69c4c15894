package load

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"slices"
	"time"
)

// Limits of a plan, so that a slip gives an error at once rather than a machine
// out of memory.
const (
	MaxThreads     = 1024
	MaxConnections = 20_000 // of all targets together
	MaxPipelining  = 1024
	MaxRate        = 1_000_000
	MaxSeconds     = 3600
	maxTargets     = 1000
	maxSlots       = 1_000_000
	maxUnix        = 107 // bytes, as the kernel has room for
)

// ReadPlan reads a plan, and returns a reader for the rest of the stream. It
// does not wait for the rest.
func ReadPlan(r io.Reader) (*Plan, io.Reader, error) {
	dec := json.NewDecoder(r)
	var text json.RawMessage
	if err := dec.Decode(&text); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("the input ends before the plan does")
		}
		return nil, nil, fmt.Errorf("the plan: %w", err)
	}
	p := &Plan{}
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	err := strict.Decode(p)
	if err == nil {
		err = p.Check()
	}
	if err != nil {
		return nil, nil, fmt.Errorf("the plan: %w", err)
	}
	return p, io.MultiReader(dec.Buffered(), r), nil
}

// Write writes a plan in one line, as ReadPlan reads it.
func (p *Plan) Write(w io.Writer) error {
	out := *p
	out.Targets = slices.Clone(p.Targets)
	for i, t := range out.Targets {
		if t.Processes == nil {
			out.Targets[i].Processes = []int{}
		}
	}
	return json.NewEncoder(w).Encode(out)
}

// Timeout is the timeout of one answer.
func (p *Plan) Timeout() time.Duration {
	return time.Duration(cmp.Or(p.TimeoutS, DefaultTimeoutS) * float64(time.Second))
}

// Check says what is wrong with a plan, by field.
func (p *Plan) Check() error {
	if err := cmp.Or(whole("threads", p.Threads, 0, MaxThreads),
		unlessNought("timeout_s", p.TimeoutS, MaxSeconds),
		whole("number of targets", len(p.Targets), 1, maxTargets),
		whole("number of slots", len(p.Slots), 0, maxSlots)); err != nil {
		return err
	}
	all := 0
	for i, t := range p.Targets {
		if err := t.check(); err != nil {
			return fmt.Errorf("targets/%d: %w", i, err)
		}
		if all += t.Connections; t.Protocol == EventStream && p.Threads != 1 {
			return fmt.Errorf("targets/%d: a stream of events needs a plan of one thread", i)
		}
	}
	if err := whole("sum of connections", all, 1, MaxConnections); err != nil {
		return err
	}
	for i, s := range p.Slots {
		if err := s.check(len(p.Targets)); err != nil {
			return fmt.Errorf("slots/%d: %w", i, err)
		}
	}
	if w := p.Wire; w != nil && (w.ServerPID < 1 || w.ServerDevice == "" || w.ClientDevice == "") {
		return errors.New("wire: it needs server_pid, server_device and client_device")
	}
	return nil
}

func (s Slot) check(targets int) error {
	if s.Target < 0 || s.Target >= targets {
		return fmt.Errorf("there is no target %d", s.Target)
	}
	if s.Requests < 0 {
		return fmt.Errorf("requests is %d; give a number from 0", s.Requests)
	}
	return within("seconds", s.Seconds, 0.001, MaxSeconds)
}

func (t *Target) check() error {
	u, err := url.Parse(t.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return fmt.Errorf("url is %q; give http://HOST:PORT/PATH, or https", t.URL)
	}
	switch {
	case t.Protocol != "" && t.Protocol != HTTP2 && t.Protocol != EventStream:
		return fmt.Errorf("protocol is %q; give h2, events, or none for HTTP/1.1", t.Protocol)
	case (t.Insecure || t.CA+t.Cert+t.SNI != "") && u.Scheme != "https":
		return errors.New("insecure, ca, cert and sni are about certificates; give them for https")
	case (t.Cert == "") != (t.Key == ""):
		return errors.New("cert and key belong together; give both")
	case t.Insecure && t.CA != "":
		return errors.New("insecure checks no certificate; leave out ca")
	case t.Close && t.Protocol != "":
		return errors.New("close is of HTTP/1.1; leave it out with protocol")
	case t.Unix != "" && (t.Unix[0] != '/' || len(t.Unix) > maxUnix):
		return fmt.Errorf("unix is %.120q; give the whole path of a socket, of up to %d bytes", t.Unix, maxUnix)
	case t.Close && t.Pipelining > 1:
		return fmt.Errorf("pipelining is %d; with close each connection takes one request", t.Pipelining)
	}
	if err := cmp.Or(t.CheckRequests(), whole("connections", t.Connections, 1, MaxConnections),
		whole("pipelining", t.Pipelining, 1, MaxPipelining), unlessNought("rate", t.Rate, MaxRate)); err != nil {
		return err
	}
	for _, pid := range t.Processes {
		if pid < 1 || pid > math.MaxInt32 {
			return fmt.Errorf("processes: %d is no pid", pid)
		}
	}
	return nil
}

func whole(name string, n, least, most int) error {
	if n < least || n > most {
		return fmt.Errorf("%s is %d; give a whole number from %d to %d", name, n, least, most)
	}
	return nil
}

func within(name string, v, least, most float64) error {
	if math.IsNaN(v) || v < least || v > most {
		return fmt.Errorf("%s is %v; give a number from %v to %v", name, v, least, most)
	}
	return nil
}

// unlessNought is within for what may be left out.
func unlessNought(name string, v, most float64) error {
	if v == 0 {
		return nil
	}
	return within(name, v, 0.001, most)
}
