package bench

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/probe"
	"github.com/line-rate/line-rate/lab/internal/scenario"
	"github.com/line-rate/line-rate/lab/load"
)

// speaksWithin bounds the attempt to find out what else a server speaks.
const speaksWithin = time.Second

// Instead says what a server speaks in place of what a target was asked in, which came to an
// error or to none, and which flag says so; empty if that is not known.
func Instead(ctx context.Context, t load.Target, failed error) string {
	if bad, ok := errors.AsType[*tls.CertificateVerificationError](failed); ok {
		return fmt.Sprintf("its certificate is not trusted (%v); name what has signed it by --cacert FILE, or take any by "+
			"--insecure", bad.Err)
	}
	scheme, rest, _ := strings.Cut(t.URL, "://")
	was := scenario.Way{TLS: scheme == "https", HTTP2: t.Protocol == load.HTTP2}
	// TLS first: in plain text its servers tend to answer as well, that they want it.
	for _, is := range []scenario.Way{{TLS: true, HTTP2: was.HTTP2}, {TLS: true, HTTP2: !was.HTTP2}, {HTTP2: was.HTTP2}, {HTTP2: !was.HTTP2}} {
		if is == was {
			continue
		}
		// It may refuse in TLS, as where it wants a certificate of the client.
		err := speaks(ctx, is, load.Target{URL: "http://" + rest, Unix: t.Unix})
		if err != nil && (was.TLS || !is.TLS || !strings.Contains(err.Error(), "remote error: tls:") ||
			strings.Contains(err.Error(), "application protocol")) {
			continue
		}
		if was.HTTP2 && was.TLS && is.TLS {
			return "it offers no HTTP/2 by ALPN; leave out --http2"
		}
		var flags []string
		for _, f := range []struct {
			says string
			so   bool
		}{{"write https:// before its address (of a command: --tls)", is.TLS && !was.TLS},
			{"write http:// before its address (of a command: without --tls)", was.TLS && !is.TLS},
			{"add --http2", is.HTTP2 && !was.HTTP2}, {"leave out --http2", was.HTTP2 && !is.HTTP2}} {
			if f.so {
				flags = append(flags, f.says)
			}
		}
		return fmt.Sprintf("it speaks %s there, and was asked in %s; %s", is, was, strings.Join(flags, ", and "))
	}
	return ""
}

// speaks is an error where a server does not answer what is asked in a way. It gets a request
// that changes nothing, and nothing that a certificate would have to protect.
func speaks(ctx context.Context, w scenario.Way, t load.Target) error {
	ctx, cancel := context.WithTimeout(ctx, speaksWithin)
	defer cancel()
	w.Insecure = true
	t = w.Of(t)
	transport, err := probe.Transport(t)
	if err != nil {
		return err
	}
	defer transport.CloseIdleConnections()
	req, err := probe.Request(ctx, t, load.Request{Method: http.MethodGet, Path: "/"})
	if err != nil {
		return err
	}
	a, err := transport.RoundTrip(req)
	if err != nil {
		return err
	}
	a.Body.Close()
	if (a.ProtoMajor == 2) != (t.Protocol == load.HTTP2) {
		return fmt.Errorf("it answers in %s", a.Proto)
	}
	return nil
}
