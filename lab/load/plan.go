package load

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math"
	"net"
	"net/url"
	"strings"
	"time"
)

// A Plan is what the generator is to do. All connections of all targets are opened first
// and stay open to the end. In a slot only its target is loaded. Slots may be empty; Turn
// then takes them one by one.
type Plan struct {
	Threads  int      `json:"threads"`   // of the client; 0: one for each core that it may use
	TimeoutS float64  `json:"timeout_s"` // of one answer, in seconds; 0: DefaultTimeoutS
	Targets  []Target `json:"targets"`
	Slots    []Slot   `json:"slots"` // in the order of time
	// Seed draws the order in which a target's requests are sent.
	Seed uint64 `json:"seed,omitempty"`
}

// DefaultTimeoutS is the timeout in seconds of a plan that names none.
const DefaultTimeoutS = 10

// A Target is one server and how it is loaded.
type Target struct {
	Name        string  `json:"name"`
	URL         string  `json:"url"`
	Connections int     `json:"connections"`
	Pipelining  int     `json:"pipelining"` // requests in flight on each connection
	Rate        float64 `json:"rate"`       // requests per second; 0: a closed loop
	Answers     string  `json:"answers"`    // server whose answers to compare with: see Options.Bodies; "": none

	Unix     string    `json:"unix,omitempty"`     // path of a socket; of the URL, host and port are then only the Host header
	Protocol string    `json:"protocol,omitempty"` // "": HTTP/1.1; HTTP2, by ALPN over https, with prior knowledge over http
	Stream   bool      `json:"stream,omitempty"`   // answers that do not end: each connection asks once, and what comes is given to Options.Stream
	Close    bool      `json:"close,omitempty"`    // a new connection for each request
	Insecure bool      `json:"insecure,omitempty"` // https without checking the certificate
	CA       string    `json:"ca,omitempty"`       // certificates in PEM, one of which has signed the server's; "": the host's
	Cert     string    `json:"cert,omitempty"`     // of this client, in PEM, with its chain
	Key      string    `json:"key,omitempty"`      // of the certificate, in PEM
	SNI      string    `json:"sni,omitempty"`      // whom https greets; "": the name in the first request's Host header, or the URL's
	Requests []Request `json:"requests,omitempty"` // by weight; none: GET of the URL
	Clients  int       `json:"clients,omitempty"`  // for who deals a load out to several generators: to so many; 0: to all
}

// A Slot is a turn of one target.
type Slot struct {
	Target int `json:"target"` // index into Targets
	// Seconds is the length of the counted time. In a closed loop it is longer if answers take more
	// than a fifth of that time: five times as long as they do, up to five seconds.
	Seconds float64 `json:"seconds"`
	Counts  bool    `json:"counts"` // false: a warm-up, loaded and checked, whose faults alone are in the summary
	// Requests ends the slot after so many, which all count; Seconds is then the longest. 0: no number.
	Requests int `json:"requests,omitempty"`
}

// Limits of a plan, so that a slip gives an error at once rather than a machine
// out of memory.
const (
	MaxThreads     = 1024
	MaxConnections = 20_000 // of all targets together
	MaxPipelining  = 1024
	MaxRate        = 1_000_000
	MaxSeconds     = 3600
	maxUnix        = 107 // bytes, as the kernel has room for
)

// Timeout is the timeout of one answer.
func (p *Plan) Timeout() time.Duration {
	return time.Duration(cmp.Or(p.TimeoutS, DefaultTimeoutS) * float64(time.Second))
}

// Check says what is wrong with a plan, by field.
func (p *Plan) Check() error {
	err := cmp.Or(within("threads", p.Threads, 0, MaxThreads), within("timeout_s", cmp.Or(p.TimeoutS, DefaultTimeoutS), 0.001, MaxSeconds),
		within("number of targets", len(p.Targets), 1, MaxConnections))
	all := 0
	for i, t := range p.Targets {
		if wrong := t.check(); wrong != nil {
			err = cmp.Or(err, fmt.Errorf("targets/%d: %w", i, wrong))
		}
		if all += t.Connections; t.Stream && p.Threads != 1 {
			err = cmp.Or(err, fmt.Errorf("targets/%d: a stream needs a plan of one thread", i))
		}
	}
	err = cmp.Or(err, within("sum of connections", all, 1, MaxConnections))
	for i, s := range p.Slots {
		if wrong := s.check(len(p.Targets)); wrong != nil {
			err = cmp.Or(err, fmt.Errorf("slots/%d: %w", i, wrong))
		}
	}
	return err
}

func (s Slot) check(targets int) error {
	if s.Target < 0 || s.Target >= targets {
		return fmt.Errorf("there is no target %d", s.Target)
	}
	return cmp.Or(within("seconds", s.Seconds, 0.001, MaxSeconds), within("requests", s.Requests, 0, math.MaxInt32))
}

func (t *Target) check() error {
	u, err := url.Parse(t.URL)
	secure := err == nil && u.Scheme == "https"
	switch {
	case !secure && (err != nil || u.Scheme != "http") || u.Hostname() == "" || u.User != nil:
		return fmt.Errorf("url is %q; give http://HOST:PORT/PATH, or https", t.URL)
	case t.Protocol != "" && t.Protocol != HTTP2:
		return fmt.Errorf("protocol is %q; give h2, or none for HTTP/1.1", t.Protocol)
	case (t.Insecure || t.CA+t.Cert+t.SNI != "") && !secure:
		return errors.New("insecure, ca, cert and sni are about certificates; give them for https")
	case (t.Cert == "") != (t.Key == ""):
		return errors.New("cert and key belong together; give both")
	case t.Insecure && t.CA != "":
		return errors.New("insecure checks no certificate; leave out ca")
	case t.Close && t.Protocol != "" || t.Stream && (t.Close || t.Protocol != "" || t.Rate > 0 || t.Pipelining > 1):
		return errors.New("close and stream are of HTTP/1.1, and a stream has no close, rate or pipelining; leave out one of them")
	case t.Unix != "" && (t.Unix[0] != '/' || len(t.Unix) > maxUnix):
		return fmt.Errorf("unix is %.120q; give the whole path of a socket, of up to %d bytes", t.Unix, maxUnix)
	case t.Close && t.Pipelining > 1:
		return fmt.Errorf("pipelining is %d, and with close each connection takes one request; leave out one of both", t.Pipelining)
	}
	return cmp.Or(within("rate", cmp.Or(t.Rate, 1), 0.001, MaxRate), t.CheckRequests(), within("connections", t.Connections, 1, MaxConnections),
		within("pipelining", t.Pipelining, 1, MaxPipelining))
}

func within[N int | float64](name string, v, least, most N) error {
	if v >= least && v <= most {
		return nil
	}
	return fmt.Errorf("%s is %v; give a number from %v to %v", name, v, least, most)
}

// Asked are the requests, or that of the URL alone.
func (t *Target) Asked() ([]Request, error) {
	if len(t.Requests) > 0 {
		return t.Requests, nil
	}
	u, err := url.Parse(t.URL)
	if err != nil {
		return nil, err
	}
	return []Request{{Method: "GET", Path: u.RequestURI()}}, nil
}

// TLS is how the target's server is to prove who it is; nil without TLS.
func (t *Target) TLS() (*tls.Config, error) {
	u, err := url.Parse(t.URL)
	if err != nil || u.Scheme != "https" {
		return nil, err
	}
	name := u.Hostname()
	if len(t.Requests) > 0 {
		if host, _, _ := strings.Cut(t.Requests[0].host(""), ":"); host != "" && net.ParseIP(host) == nil {
			name = host
		}
	}
	c := &tls.Config{ServerName: cmp.Or(t.SNI, name), InsecureSkipVerify: t.Insecure, NextProtos: []string{"http/1.1"},
		DynamicRecordSizingDisabled: true} // which would cut long requests into many records
	if t.Protocol == HTTP2 {
		c.NextProtos = []string{HTTP2}
	}
	if t.Cert != "" {
		own, err := tls.X509KeyPair([]byte(t.Cert), []byte(t.Key))
		if err != nil {
			return nil, fmt.Errorf("cert and key: %w", err)
		}
		c.Certificates = []tls.Certificate{own}
	}
	if t.CA != "" {
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM([]byte(t.CA)) {
			return nil, errors.New("ca has no certificate in PEM")
		}
	}
	return c, nil
}
