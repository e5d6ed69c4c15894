package scenario

import (
	"crypto/x509"
	"errors"
	"fmt"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/load"
)

// A Way is how servers are spoken to. The zero value is HTTP/1.1 in plain text.
type Way struct {
	TLS      bool
	HTTP2    bool   // by ALPN with TLS, by prior knowledge without
	Insecure bool   // whatever certificate the server has
	CA       string // certificates in PEM, one of which has signed the server's; empty: the host's
}

func (w Way) String() string {
	name := "HTTP/1.1"
	if w.HTTP2 {
		name = "HTTP/2"
	}
	if w.TLS {
		name += " over TLS"
	}
	return name
}

// Beyond names what is spoken if it is more than HTTP/1.1 in plain text; else it is empty.
func (w Way) Beyond() string {
	if !w.TLS && !w.HTTP2 {
		return ""
	}
	return w.String()
}

// Of is a target that is spoken to in this way, also if its URL says http.
func (w Way) Of(t load.Target) load.Target {
	if rest, ok := strings.CutPrefix(t.URL, "http:"); ok && w.TLS {
		t.URL = "https:" + rest
	}
	if w.HTTP2 {
		t.Protocol = load.HTTP2
	}
	t.Insecure, t.CA = w.Insecure, w.CA
	return t
}

// mostCA is the limit in bytes of a file with certificates.
const mostCA = 1 << 20

// Way is how the flags say that servers are spoken to, which may speak TLS, in a scenario.
func (a Asking) Way(tls bool, of Scenario) (w Way, err error) {
	w = Way{TLS: tls, HTTP2: a.HTTP2, Insecure: a.Insecure}
	switch {
	case a.HTTP2 && of.Close:
		return w, errors.New("--http2 keeps its connections open; leave it out, or what asks for new ones (--no-keepalive)")
	case !tls && (a.Insecure || a.CACert != ""):
		return w, errors.New("--insecure and --cacert are about the certificate of a server that speaks TLS; say that it does, " +
			"by https:// or, of a command, by --tls")
	case a.Insecure && a.CACert != "":
		return w, errors.New("--insecure checks no certificate; leave out --cacert")
	case a.CACert == "":
		return w, nil
	}
	text, err := strict.ReadUpTo(a.CACert, mostCA)
	if err == nil && !x509.NewCertPool().AppendCertsFromPEM(text) {
		err = fmt.Errorf("%s has no certificate in PEM", a.CACert)
	}
	if err != nil {
		return w, fmt.Errorf("--cacert: %w", err)
	}
	w.CA = string(text)
	return w, nil
}
