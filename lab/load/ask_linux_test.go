package load

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// handled is a target whose server is Go's own, which reads requests as they should be.
func handled(t *testing.T, h http.HandlerFunc) Target {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return Target{Name: "handled", URL: s.URL + "/", Connections: 2, Pipelining: 1}
}

// several are requests of different lengths, whose answers say what was asked.
func several() []Request {
	long := bytes.Repeat([]byte("0123456789"), 3000)
	return []Request{
		{Name: "find", Method: "GET", Path: "/find?q=a%20b", Weight: 6},
		{Name: "put", Method: "PUT", Path: "/put", Body: long, Headers: [][2]string{{"X-Own", "1"}}, Weight: 3},
		{Method: "POST", Path: "/empty", Headers: [][2]string{{"Host", "other"}}},
	}
}

func told(r *http.Request) string {
	body, _ := io.ReadAll(r.Body)
	return fmt.Sprintf("%s %s %s %q %d %x", r.Method, r.Host, r.RequestURI, r.Header.Get("X-Own"), r.ContentLength,
		sha256.Sum256(body))
}

// All requests arrive in their shares, wherever full sockets cut them.
func TestSeveralRequests(t *testing.T) {
	for _, depth := range []int{1, 7, 1024} {
		var mu sync.Mutex
		seen := map[string]int{}
		target := handled(t, func(w http.ResponseWriter, r *http.Request) {
			text := told(r)
			mu.Lock()
			seen[text]++
			mu.Unlock()
			io.WriteString(w, text)
		})
		target.Requests, target.Pipelining = several(), depth
		p := times(target, 5000)
		p.Threads = 2
		sum := carry(t, p).Summary.Targets[0]
		clean(t, sum)
		host := strings.TrimSuffix(strings.TrimPrefix(target.URL, "http://"), "/")
		want := []string{
			fmt.Sprintf(`GET %s /find?q=a%%20b "" 0 %x`, host, sha256.Sum256(nil)),
			fmt.Sprintf(`PUT %s /put "1" 30000 %x`, host, sha256.Sum256(target.Requests[1].Body)),
			fmt.Sprintf(`POST other /empty "" 0 %x`, sha256.Sum256(nil)),
		}
		mu.Lock() // the last answers may be on their way
		defer mu.Unlock()
		all := 0
		for _, n := range seen {
			all += n
		}
		if len(seen) != len(want) || len(sum.ByRequest) != len(want) {
			t.Fatalf("%v, %+v", seen, sum.ByRequest)
		}
		counted := int64(0)
		for i, text := range want {
			if share := float64(seen[text]) / float64(all); share < target.Requests[i].weight()/10*0.7-0.02 ||
				share > target.Requests[i].weight()/10*1.3+0.02 {
				t.Errorf("depth %d, %s: a share of %.3f in %d requests, weight %v", depth, text, share, all,
					target.Requests[i].weight())
			}
			one := sum.ByRequest[i]
			if one.Name != target.Requests[i].Label() || one.Latency == nil {
				t.Fatalf("depth %d: %+v", depth, one)
			}
			counted += one.Latency.N
		}
		if counted != sum.Latency.N {
			t.Errorf("depth %d: latencies of %d requests, of their kinds there are %d", depth, sum.Latency.N, counted)
		}
	}
}

// The same seed gives the same order; a stretch has about the shares of the whole.
func TestTheOrderIsDrawnInAdvance(t *testing.T) {
	requests := several()
	a, b := drawn(requests, 10, 1000, 7), drawn(requests, 10, 1000, 8)
	if !bytes.Equal(a, drawn(requests, 10, 1000, 7)) || bytes.Equal(a, b) || len(a) != 1000 {
		t.Error("the order does not follow from the seed")
	}
	for from := 0; from < len(a); from += 100 {
		if n := bytes.Count(a[from:from+100], []byte{0}); n < 55 || n > 65 {
			t.Errorf("%d of places %d and following are for a share of 0.6", n, from)
		}
	}
	if m := newMix([]Request{{Method: "PUT", Path: "/", Body: make([]byte, MaxBodies)}, {Method: "GET", Path: "/"}}, "h",
		false, 1, MaxPipelining); len(m.bytes) > 2*mostMixed+MaxBodies {
		t.Errorf("%d bytes are kept", len(m.bytes))
	}
}

// Each request has its own framing, statuses and checks.
func TestAnswersToMethodsAndStatuses(t *testing.T) {
	n := 0
	var mu sync.Mutex
	target := handled(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		n++
		id := n
		mu.Unlock()
		w.Header().Set("X-Kind", r.URL.Path)
		switch r.URL.Path {
		case "/head", "/get":
			io.WriteString(w, "hello")
		case "/none":
			w.WriteHeader(http.StatusNoContent)
		case "/old":
			w.Header().Set("Etag", `"1"`)
			w.WriteHeader(http.StatusNotModified)
		case "/hints":
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusNotFound)
		case "/chunks":
			fmt.Fprintf(w, `{"id": %d, `, id)
			w.(http.Flusher).Flush()
			io.WriteString(w, `"state": "open", "items": [{"n": 1.0}]}`)
		}
	})
	target.Pipelining = 6
	target.Requests = []Request{
		{Method: "HEAD", Path: "/head", Check: &Check{Headers: [][2]string{{"Content-Length", "5"}}}},
		{Method: "GET", Path: "/get", Check: &Check{Body: []byte("hello"), Headers: [][2]string{{"x-kind", "/get"}}}},
		{Method: "DELETE", Path: "/none", Status: []int{204}},
		{Method: "GET", Path: "/old", Status: []int{304}, Check: &Check{Headers: [][2]string{{"ETag", ""}}}},
		{Method: "GET", Path: "/hints", Status: []int{404, 410}},
		{Method: "GET", Path: "/chunks", Check: &Check{Contains: "open", JSON: []Field{{"/items/0/n", "1"}}}},
	}
	sum := carry(t, times(target, 600)).Summary.Targets[0]
	clean(t, sum)
	if sum.Compared < sum.Requests/2 { // of those that are decoded, one in so many is
		t.Errorf("%d of %d bodies were compared", sum.Compared, sum.Requests)
	}

	target.Requests[0].Check.Headers[0][1] = "6"
	target.Requests[2].Status = []int{200}
	target.Requests[5].Check.JSON[0].Value = "2"
	sum = carry(t, times(target, 600)).Summary.Targets[0]
	for i, one := range sum.ByRequest {
		asked := one.Latency.N
		if (one.Unexpected >= asked) != (i == 2) || i == 0 && one.Mismatches < asked || (one.Mismatches > 0) != (i == 0 || i == 5) ||
			one.Lost > 0 {
			t.Errorf("%+v", one)
		}
	}
	if !strings.Contains(sum.Fault, "DELETE /none: status 204") || !strings.Contains(sum.Mismatch,
		`HEAD /head: header Content-Length is "5", expected was "6"`) {
		t.Errorf("%q, %q", sum.Fault, sum.Mismatch)
	}
}

func TestUnixSockets(t *testing.T) {
	for _, closes := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "socket")
		ln, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, told(r))
		}))
		s.Listener.Close()
		s.Listener = ln
		s.Start()
		t.Cleanup(s.Close)
		target := Target{Name: "unix", URL: "http://a.example/", Unix: path, Connections: 3, Pipelining: 1, Close: closes,
			Requests: several()}
		sum := carry(t, times(target, 100)).Summary.Targets[0]
		clean(t, sum)
		if sum.Requests != 100 || sum.Compared == 0 {
			t.Errorf("%+v", sum)
		}
	}
	target := Target{Name: "unix", URL: "http://a/", Unix: "/nowhere/socket", Connections: 1, Pipelining: 1}
	if _, err := Run(t.Context(), once(target, 0.1), Options{}); err == nil || !strings.Contains(err.Error(), "/nowhere/socket") {
		t.Errorf("%v", err)
	}
}

// Each request has a connection of its own, and the ports of those that have ended are free.
func TestAConnectionForEachRequest(t *testing.T) {
	for _, rate := range []float64{0, 500} {
		// A load may end before the server has closed the last connections, whose ports then wait. On a busy machine
		// that happens now and then; it must not each time.
		for tries := 3; ; tries-- {
			s := serve(t, func(_ int64, c net.Conn) bool {
				say(c, hello)
				return false
			})
			target := s.target(4, 1)
			target.Close, target.Rate = true, rate
			p := times(target, 100)
			p.Slots = append(p.Slots, p.Slots...)
			sum := carry(t, p).Summary.Targets[0]
			clean(t, sum)
			// Connections are opened before the first slot; all others for a request each.
			if made, hits := s.connections.Load(), s.hits.Load(); sum.Requests != 200 || made < hits || made > hits+4 {
				t.Errorf("%d connections for %d requests", made, hits)
			}
			_, port, _ := net.SplitHostPort(s.ln.Addr().String())
			n := waiting(t, port)
			if n > 0 && tries == 0 {
				t.Errorf("%d of the client's ports wait", n)
			}
			if n == 0 || tries == 0 {
				break
			}
		}
	}
}

// waiting counts a client's ports in TIME_WAIT to a server's port.
func waiting(t *testing.T, port string) (n int) {
	t.Helper()
	text, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		t.Fatal(err)
	}
	var number int
	fmt.Sscan(port, &number)
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 3 && strings.HasSuffix(f[2], fmt.Sprintf(":%04X", number)) && f[3] == "06" {
			n++
		}
	}
	return n
}
