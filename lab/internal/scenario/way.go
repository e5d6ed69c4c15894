package scenario

import (
	"crypto/tls"
	"encoding/pem"
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
	// Cert and Key are the client's own, in PEM.
	Cert, Key string
	SNI       string // whom the client greets; empty: the name in the Host header, or the address
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
	t.Insecure, t.CA, t.Cert, t.Key, t.SNI = w.Insecure, w.CA, w.Cert, w.Key, w.SNI
	return t
}

// mostPEM is the limit in bytes of a file with certificates or a key.
const mostPEM = 1 << 20

// Way is how the flags say that servers are spoken to, which may be with TLS, in a scenario.
func (a Asking) Way(secure bool, of Scenario) (w Way, err error) {
	w = Way{TLS: secure, HTTP2: a.HTTP2, Insecure: a.Insecure, SNI: a.SNI}
	switch {
	case a.HTTP2 && of.Close:
		return w, errors.New("--http2 keeps its connections open; leave it out, or what asks for new ones (--no-keepalive)")
	case !secure && (a.Insecure || a.CACert+a.Cert+a.Key+a.SNI != ""):
		return w, errors.New("--insecure, --cacert, --cert, --key and --sni are about TLS; say that the server speaks it, " +
			"by https:// or, of a command, by --tls")
	case (a.Cert == "") != (a.Key == ""):
		return w, errors.New("--cert and --key belong together; give both")
	case a.Insecure && a.CACert != "":
		return w, errors.New("--insecure checks no certificate; leave out --cacert")
	}
	pem := func(flag, path string) (text string) {
		if path == "" || err != nil {
			return ""
		}
		read, failed := strict.ReadUpTo(path, mostPEM)
		if block, _ := pem.Decode(read); failed == nil && block == nil {
			failed = fmt.Errorf("%s has no PEM in it", path)
		}
		if failed != nil {
			err = fmt.Errorf("%s: %w", flag, failed)
		}
		return string(read)
	}
	w.CA, w.Cert, w.Key = pem("--cacert", a.CACert), pem("--cert", a.Cert), pem("--key", a.Key)
	if err == nil && w.Cert != "" {
		if _, err = tls.X509KeyPair([]byte(w.Cert), []byte(w.Key)); err != nil {
			err = fmt.Errorf("--cert and --key: %w", err)
		}
	}
	return w, err
}
