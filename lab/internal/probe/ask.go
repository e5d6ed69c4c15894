package probe

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A Given is one answer of a server whose right answers nobody has told the lab.
type Given struct {
	Status   int    `json:"status"`
	Type     string `json:"type,omitempty"`
	Encoding string `json:"encoding,omitempty"`
	Length   int    `json:"length"` // of the body in bytes
	SHA256   string `json:"sha256"` // of the body
}

// An Asking waits until a server answers a URL with a status 2xx, and then asks
// it a few times more. The lab calls it on the client's side of the wire.
type Asking struct {
	URL    string        `required:""`
	Within time.Duration `default:"20s"` // longest wait for the first answer
	Times  int           `default:"4"`
}

// How often a server that does not answer yet is asked, how long one that
// answers otherwise than with 2xx may go on with that, and how long one answer
// may take.
const (
	askedEvery = 20 * time.Millisecond
	otherwise  = 2 * time.Second
	longestAsk = 5 * time.Second
)

// mostBody limits the length of a body in bytes.
const mostBody = 64 << 20

// Run prints the answers as a line of JSON. Its error says what is wrong with
// the server, or with an answer.
func (a Asking) Run(ctx context.Context, out io.Writer) error {
	transport := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 1}
	defer transport.CloseIdleConnections()
	c := &http.Client{Transport: transport, Timeout: longestAsk,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	began := time.Now()
	var refused time.Time // first answer that was not 2xx
	for {
		one, err := get(ctx, c, a.URL)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil && one.Status/100 == 2:
			return a.rest(ctx, c, one, out)
		case err == nil && refused.IsZero():
			refused = time.Now()
		case err == nil && time.Since(refused) > otherwise:
			return fmt.Errorf("it answers with status %d", one.Status)
		case err != nil && !errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, syscall.ECONNRESET) && !slow(err) &&
			time.Since(began) > otherwise:
			return err
		}
		if time.Since(began) > a.Within {
			if err == nil {
				err = fmt.Errorf("status %d", one.Status)
			}
			return fmt.Errorf("no answer 2xx within %v (%v)", a.Within, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(askedEvery):
		}
	}
}

func (a Asking) rest(ctx context.Context, c *http.Client, first Given, out io.Writer) error {
	all := []Given{first}
	for range a.Times - 1 {
		one, err := get(ctx, c, a.URL)
		if err != nil {
			return fmt.Errorf("answer %d of %d: %w", len(all)+1, a.Times, err)
		}
		all = append(all, one)
	}
	return json.NewEncoder(out).Encode(all)
}

func slow(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

func get(ctx context.Context, c *http.Client, url string) (Given, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return Given{}, err
	}
	a, err := c.Do(req)
	if err != nil {
		return Given{}, errors.Unwrap(err) // without the address, which the caller names
	}
	defer a.Body.Close()
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(a.Body, mostBody+1))
	switch {
	case err != nil:
		return Given{}, fmt.Errorf("a body that ends after %d bytes: %w", n, err)
	case n > mostBody:
		return Given{}, fmt.Errorf("a body of more than %d bytes", mostBody)
	case a.Close && a.StatusCode/100 == 2:
		return Given{}, fmt.Errorf("it ends the connection after an answer (%s), and the load goes over connections that stay", a.Proto)
	}
	return Given{a.StatusCode, strings.Join(a.Header.Values("Content-Type"), ", "),
		strings.Join(a.Header.Values("Content-Encoding"), ", "), int(n), hex.EncodeToString(h.Sum(nil))}, nil
}

// Differ says how the answers of a server differ from those of another to the
// same request; empty if they do not. What varies in the other's answers may
// vary.
func Differ(theirs, ours []Given) string {
	for _, field := range []struct {
		name string
		of   func(Given) string
	}{
		{"status", func(g Given) string { return strconv.Itoa(g.Status) }},
		{"Content-Type", func(g Given) string { return strconv.Quote(g.Type) }},
		{"Content-Encoding", func(g Given) string { return strconv.Quote(g.Encoding) }},
		{"length", func(g Given) string { return strconv.Itoa(g.Length) + " bytes" }},
		{"body", func(g Given) string { return "SHA-256 " + g.SHA256[:min(len(g.SHA256), 12)] }},
	} {
		was := field.of(theirs[0])
		constant := true
		for _, g := range theirs {
			constant = constant && field.of(g) == was
		}
		for _, g := range ours {
			if now := field.of(g); constant && now != was {
				return fmt.Sprintf("%s %s, not %s", field.name, now, was)
			}
		}
	}
	return ""
}
