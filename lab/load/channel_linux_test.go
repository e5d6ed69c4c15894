package load

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// secured starts a server of TLS and HTTP/1.1, and returns a target that trusts it.
func secured(t *testing.T, answer http.HandlerFunc, connections, pipelining int) (Target, *httptest.Server) {
	t.Helper()
	s := httptest.NewTLSServer(answer)
	t.Cleanup(s.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	return Target{Name: "tls", URL: s.URL + "/simple", Connections: connections, Pipelining: pipelining, CA: string(ca)}, s
}

func TestHTTP1OverTLS(t *testing.T) {
	var hits atomic.Int64
	long := strings.Repeat("x", 100_000)
	for _, c := range []struct {
		threads, connections, pipelining int
		rate                             float64
		body                             string
		closes                           bool // and the server's word that it does may come with its answer
	}{{1, 3, 1, 0, "hello", false}, {2, 5, 8, 0, "hello", false}, {1, 2, 4, 0, long, false}, {1, 4, 1, 500, "hello", false},
		{1, 3, 1, 0, "hello", true}} {
		hits.Store(0)
		target, _ := secured(t, func(w http.ResponseWriter, r *http.Request) {
			hits.Add(1)
			_, _ = w.Write([]byte(c.body))
		}, c.connections, c.pipelining)
		target.Rate, target.Close = c.rate, c.closes
		p := times(target, 100)
		p.Threads = c.threads
		p.Slots = append(p.Slots, p.Slots[0])
		sum := carry(t, p).Summary.Targets[0]
		clean(t, sum)
		if sum.Requests != 200 || hits.Load() < 200 || sum.Bytes < 200*int64(len(c.body)) || sum.Compared == 0 {
			t.Errorf("%d connections: %+v, the server had %d", c.connections, sum, hits.Load())
		}
	}
}

func TestServersOfWhichTLSSaysNo(t *testing.T) {
	t.Parallel()
	target, _ := secured(t, func(http.ResponseWriter, *http.Request) {}, 1, 1)
	insecure, other := target, target
	insecure.CA, insecure.Insecure = "", true
	other.URL = strings.Replace(target.URL, "127.0.0.1", "localhost", 1)
	plain := httptest.NewServer(nil)
	defer plain.Close()
	dumb, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer dumb.Close()
	no := func(t Target, url string) Target { t.URL = url; return t }
	for _, c := range []struct {
		target Target
		want   string
	}{
		{other, "certificate is valid for example.com, *.example.com, not localhost"},
		{no(insecure, strings.Replace(plain.URL, "http:", "https:", 1)), "does not look like a TLS handshake"},
		{no(insecure, "https://"+dumb.Addr().String()), "does not answer the greeting within"},
	} {
		_, err := Run(context.Background(), once(c.target, 0.05), Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", c.target.URL, err, c.want)
		}
	}
	clean(t, carry(t, once(insecure, 0.05)).Summary.Targets[0])
}

// A connection of TLS that breaks is opened again, with a handshake that holds up no other.
func TestTLSIsOpenedAgain(t *testing.T) {
	var hits atomic.Int64
	target, _ := secured(t, func(w http.ResponseWriter, r *http.Request) {
		if n := hits.Add(1); n%300 == 299 && n < 900 {
			c, _, _ := w.(http.Hijacker).Hijack()
			c.Close()
			return
		}
		fmt.Fprint(w, "hello")
	}, 2, 1)
	sum := carry(t, times(target, 1000)).Summary.Targets[0]
	if sum.Resets+sum.Crossed != 3 || sum.Errors != sum.Resets {
		t.Errorf("%d hits: %+v", hits.Load(), sum)
	}
}

// A server that takes a handshake again and then hangs in it costs that connection only, also
// where the load ends meanwhile.
func TestAHandshakeThatHangs(t *testing.T) {
	target, s := secured(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello") }, 2, 1)
	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer front.Close()
	var taken atomic.Int64
	go func() {
		for {
			c, err := front.Accept()
			if err != nil {
				return
			}
			defer c.Close()
			n := taken.Add(1)
			if n > 2 {
				continue // never answered
			}
			back, err := net.Dial("tcp", s.Listener.Addr().String())
			if err != nil {
				return
			}
			go func() { _, _ = bufio.NewReader(back).WriteTo(c) }()
			go func() {
				if n == 1 {
					time.AfterFunc(200*time.Millisecond, func() { c.Close(); back.Close() })
				}
				_, _ = bufio.NewReader(c).WriteTo(back)
			}()
		}
	}()
	target.URL = "https://" + front.Addr().String() + "/"
	sum := carry(t, once(target, 0.6)).Summary.Targets[0]
	if sum.Resets+sum.Crossed != 1 || sum.Requests == 0 || taken.Load() != 3 {
		t.Errorf("%d connections: %+v", taken.Load(), sum)
	}
}

// A client shows its certificate, and greets a server by the name in the Host header, or by SNI.
func TestACertificateOfTheClient(t *testing.T) {
	var greeted atomic.Value
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }))
	s.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
		greeted.Store(h.ServerName)
		return nil, nil
	}}
	s.StartTLS()
	defer s.Close()
	key, err := x509.MarshalPKCS8PrivateKey(s.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	target := Target{Name: "tls", URL: s.URL + "/", Connections: 2, Pipelining: 1, Insecure: true,
		Cert: string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})),
		Key:  string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})),
	}
	target.Requests = []Request{{Method: "GET", Path: "/", Headers: [][2]string{{"Host", "app.test:8443"}}}}
	for _, sni := range []string{"", "other.test"} {
		target.SNI = sni
		sum := carry(t, once(target, 0.05)).Summary.Targets[0]
		if clean(t, sum); sum.Requests == 0 || greeted.Load() != cmp.Or(sni, "app.test") {
			t.Errorf("%q: %+v", greeted.Load(), sum)
		}
	}
	target.Cert, target.Key = "", ""
	if r, err := Run(t.Context(), once(target, 0.05), Options{}); err == nil && r.Summary.Targets[0].Answered > 0 {
		t.Errorf("without a certificate: %+v", r.Summary.Targets[0])
	}
}
