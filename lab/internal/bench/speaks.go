package bench

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/probe"
	"github.com/line-rate/line-rate/lab/internal/scenario"
	"github.com/line-rate/line-rate/lab/load"
)

// Instead says what a server speaks in place of what a target was asked in, which came to an
// error or to none, and which flag says so; empty if that is not known.
func Instead(ctx context.Context, t load.Target, failed error) string {
	if bad, ok := errors.AsType[*tls.CertificateVerificationError](failed); ok {
		return fmt.Sprintf("its certificate is not trusted (%v); name what has signed it by --cacert FILE, or take any by "+
			"--insecure", bad.Err)
	}
	scheme, rest, _ := strings.Cut(t.URL, "://")
	host, _, _ := strings.Cut(rest, "/")
	was := scenario.Way{TLS: scheme == "https", HTTP2: t.Protocol == load.HTTP2}
	// TLS first: in plain text its servers tend to answer as well, that they want it.
	for _, is := range []scenario.Way{{TLS: true, HTTP2: was.HTTP2}, {TLS: true, HTTP2: !was.HTTP2}, {HTTP2: was.HTTP2}, {HTTP2: !was.HTTP2}} {
		if is == was {
			continue
		}
		asked := is // it gets a request that changes nothing, and nothing that a certificate would have to protect
		asked.Insecure = true
		within, cancel := context.WithTimeout(ctx, time.Second)
		_, err := probe.Ask(within, asked.Of(load.Target{URL: "http://" + host + "/", Unix: t.Unix}), 0, 1)
		cancel()
		if err != nil && !probe.Answered(err) {
			continue
		}
		var flags []string
		switch {
		case is.TLS && !was.TLS:
			flags = append(flags, "write https:// before its address (of a command: --tls)")
		case was.TLS && !is.TLS:
			flags = append(flags, "write http:// before its address (of a command: without --tls)")
		}
		switch {
		case is.HTTP2 && !was.HTTP2:
			flags = append(flags, "add --http2")
		case was.HTTP2 && !is.HTTP2:
			flags = append(flags, "leave out --http2")
		}
		return fmt.Sprintf("it speaks %s there, and was asked in %s; %s", is, was, strings.Join(flags, ", and "))
	}
	return ""
}
