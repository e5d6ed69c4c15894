package contest

import (
	"crypto/tls"
	"io"
	"net"
	"strings"
	"time"
)

// speaksWithin bounds the attempt to find out what a server speaks in place of HTTP/1.1.
const speaksWithin = time.Second

// speaks says what a server speaks that does not answer plain HTTP/1.1, and what to do;
// empty if that is not known.
func speaks(addr string) string {
	switch {
	case strings.HasPrefix(addr, "unix:"):
	case speaksTLS(addr):
		return "it speaks TLS there, and the load is plain HTTP/1.1; start it without TLS, or give the address behind " +
			"what ends TLS"
	case speaksHTTP2(addr):
		return "it speaks HTTP/2 there, and the load is plain HTTP/1.1; let it speak that as well, or give the address of " +
			"what translates"
	}
	return ""
}

func speaksTLS(addr string) bool {
	// Nothing is sent that a certificate would have to protect.
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: speaksWithin}, "tcp", addr, &tls.Config{InsecureSkipVerify: true})
	if err == nil {
		conn.Close()
		return true
	}
	return strings.Contains(err.Error(), "remote error: tls:") // it refuses, in TLS
}

// speaksHTTP2 sends the beginning of a connection of HTTP/2, with settings that set
// nothing, and reports whether settings come back (RFC 9113, 3.4).
func speaksHTTP2(addr string) bool {
	const settings = 4
	conn, err := net.DialTimeout("tcp", addr, speaksWithin)
	if err != nil {
		return false
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(speaksWithin))
	frame := make([]byte, 9)
	_, err = io.WriteString(conn, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00")
	if err == nil {
		_, err = io.ReadFull(conn, frame)
	}
	return err == nil && frame[3] == settings && frame[0] == 0
}
