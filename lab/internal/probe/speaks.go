package probe

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/scenario"
	"github.com/line-rate/line-rate/lab/load"
)

// Instead says what a server speaks in place of the target's protocol, after an error or none, and
// which flag says so; empty if unknown.
func Instead(ctx context.Context, t load.Target, failed error) string {
	if bad, ok := errors.AsType[*tls.CertificateVerificationError](failed); ok {
		return fmt.Sprintf("its certificate is not trusted (%v); name what has signed it by --cacert FILE, or take any by "+
			"--insecure", bad.Err)
	}
	scheme, rest, _ := strings.Cut(t.URL, "://")
	host, _, _ := strings.Cut(rest, "/")
	protocols := []string{t.Protocol, load.HTTP2}
	if t.Protocol == load.HTTP2 {
		protocols[1] = ""
	}
	// TLS first: in plain text its servers tend to answer as well, that they want it.
	for n, with := range []string{"https", "https", "http", "http"} {
		// It gets a request that changes nothing, and nothing that a certificate would have to protect.
		is := load.Target{URL: with + "://" + host + "/", Unix: t.Unix, Protocol: protocols[n%2], Insecure: true}
		if with == scheme && is.Protocol == t.Protocol {
			continue
		}
		within, cancel := context.WithTimeout(ctx, time.Second)
		_, err := Ask(within, is, 0, 1)
		cancel()
		if err != nil && !Answered(err) {
			continue
		}
		return fmt.Sprintf("it speaks %s there, and was asked in %s; ask with %s:// (of a command: %s) and %s --http2",
			scenario.Spoken(is), scenario.Spoken(t), with, map[string]string{"https": "--tls", "http": "no --tls"}[with],
			map[string]string{load.HTTP2: "with", "": "without"}[is.Protocol])
	}
	if scheme == "https" && errors.Is(failed, io.EOF) {
		return "it ended the TLS handshake; it may want another name, by --sni, or a certificate of its client, by --cert and --key"
	}
	return ""
}
