package scenario

import (
	"errors"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/load"
)

// An Asking are the flags that say what is asked and how, as curl has them, beside those for the path
// and the body.
type Asking struct {
	Request
	Scenario    string `more:"" name:"scenario" placeholder:"FILE" help:"TOML file with several requests, in place of the flags that say what is asked."`
	NoKeepalive bool   `name:"no-keepalive" help:"Open a new connection for each request."`
	HTTP2       bool   `more:"" name:"http2" help:"Ask in HTTP/2; --pipelining is then the streams on each connection."`
	Insecure    bool   `more:"" name:"insecure" short:"k" help:"Over TLS, take any certificate."`
	CACert      string `more:"" name:"cacert" placeholder:"FILE" help:"Over TLS, certificates in PEM, one of which has signed the server's (default: those that this machine trusts)."`
	Cert        string `more:"" name:"cert" placeholder:"FILE" help:"Over TLS, certificate of this client, in PEM."`
	Key         string `more:"" name:"key" placeholder:"FILE" help:"Its key, in PEM."`
	SNI         string `more:"" name:"sni" placeholder:"NAME" help:"Over TLS, the name that the server is greeted with (default: that in the Host header, or the address)."`
}

// Way is a target that is spoken to as the flags say: what it has beside its address and its requests. Its URL has the
// scheme alone.
func (a Asking) Way(secure bool) (t load.Target, err error) {
	t = load.Target{URL: "http://", Close: a.NoKeepalive, Insecure: a.Insecure, SNI: a.SNI}
	switch {
	case a.HTTP2 && a.NoKeepalive:
		return t, errors.New("--http2 keeps its connections open; leave it out, or --no-keepalive")
	case !secure && (a.Insecure || a.CACert+a.Cert+a.Key+a.SNI != ""):
		return t, errors.New("--insecure, --cacert, --cert, --key and --sni are about TLS; say that the server speaks it, " +
			"by https:// or, of a command, by --tls")
	}
	if secure {
		t.URL = "https://"
	}
	if a.HTTP2 {
		t.Protocol = load.HTTP2
	}
	for _, f := range []struct {
		path string
		to   *string
	}{{a.CACert, &t.CA}, {a.Cert, &t.Cert}, {a.Key, &t.Key}} {
		if f.path != "" {
			text, err := strict.ReadUpTo(f.path, mostFile)
			if err != nil {
				return t, err
			}
			*f.to = string(text)
		}
	}
	return t, nil
}

// Plain is the protocol by default.
const Plain = "HTTP/1.1"

// Spoken names what a target is spoken to in.
func Spoken(t load.Target) string {
	name := Plain
	if t.Protocol == load.HTTP2 {
		name = "HTTP/2"
	}
	if strings.HasPrefix(t.URL, "https:") {
		name += " over TLS"
	}
	return name
}
