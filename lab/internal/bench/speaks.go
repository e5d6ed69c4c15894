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
	for _, is := range []scenario.Way{{TLS: true, HTTP2: was.HTTP2}, {TLS: true, HTTP2: !was.HTTP2},
		{HTTP2: was.HTTP2}, {HTTP2: !was.HTTP2}} {
		if is == was {
			continue
		}
		if err := speaks(ctx, is, load.Target{URL: "http://" + rest, Unix: t.Unix}); err != nil {
			// It may refuse in TLS, as where it wants a certificate of the client.
			if alert := err.Error(); was.TLS || !is.TLS || !strings.Contains(alert, "remote error: tls:") ||
				strings.Contains(alert, "application protocol") {
				continue
			}
		}
		var flags []string
		switch {
		case is.TLS && !was.TLS:
			flags = append(flags, "write https:// before its address (of a command: --tls)")
		case was.TLS && !is.TLS:
			flags = append(flags, "write http:// before its address (of a command: without --tls)")
		case was.HTTP2 && is.TLS:
			return "it offers no HTTP/2 by ALPN; leave out --http2"
		}
		if is.HTTP2 && !was.HTTP2 {
			flags = append(flags, "add --http2")
		} else if was.HTTP2 && !is.HTTP2 {
			flags = append(flags, "leave out --http2")
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
