package capture

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/line-rate/line-rate/lab/internal/program"
)

// A Source is one process that serves net/http/pprof, made by Socket, URL or
// Sockets. The zero value is no source.
type Source struct {
	name             string // as given, for error messages
	network, address string
}

func (s Source) String() string { return s.name }

// Socket is a process that serves pprof on a unix socket.
func Socket(path string) Source {
	return Source{name: path, network: "unix", address: path}
}

// URL is a process that serves pprof by HTTP on this machine's loopback. A
// process on another machine is reached through a tunnel: pprof has no
// authentication, so it must not be open to a network.
func URL(base string) (Source, error) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" ||
		strings.Trim(u.Path, "/") != "" {
		return Source{}, fmt.Errorf("%s: give http://HOST:PORT, as in http://127.0.0.1:6060", base)
	}
	port := u.Port()
	if port == "" {
		return Source{}, fmt.Errorf("%s: the port is missing, as in http://127.0.0.1:6060", base)
	}
	addr, ok := program.LoopbackAddr(u.Host)
	if !ok {
		return Source{}, fmt.Errorf("%s: pprof is asked on loopback only; open a tunnel with ssh -N -L "+
			"127.0.0.1:%s:127.0.0.1:%s %s and give http://127.0.0.1:%s",
			base, port, port, u.Hostname(), port)
	}
	return Source{name: strings.TrimRight(base, "/"), network: "tcp", address: addr}, nil
}

// Sockets gives the processes that serve pprof on sockets in a directory, as
// made by the server's --pprof-sockets.
//
// A live process is recognised by its listening socket, not by the process id
// in the name: a server in the wire's namespaces has other process ids, and ids
// are used again.
func Sockets(dir string) ([]Source, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []Source
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".sock" {
			continue
		}
		path := filepath.Join(dir, e.Name())
		conn, err := net.DialTimeout("unix", path, openWithin)
		switch {
		case err == nil:
			conn.Close()
			out = append(out, Socket(path))
		case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, os.ErrNotExist):
		default:
			return nil, fmt.Errorf("%s: %w", path, bare(err))
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no process serves pprof there; start the server with --pprof-sockets %s", dir, dir)
	}
	return out, nil
}

// client makes requests to the source over a single connection that stays open
// between requests.
//
// It never reconnects. http.Transport would retry a request on a new connection
// when a used one breaks, possibly to another process, and the new window would
// begin later than the others.
func (s Source) client() *http.Client {
	var connected atomic.Bool
	return &http.Client{
		Transport: &http.Transport{
			// No proxy, and no compression, since profiles are compressed already.
			DisableCompression: true,
			MaxConnsPerHost:    1,
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				if connected.Swap(true) {
					return nil, errEnded
				}
				return (&net.Dialer{Timeout: openWithin}).DialContext(ctx, s.network, s.address)
			},
		},
		// A redirect could lead to another machine.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// errEnded is how a killed process looks from outside.
var errEnded = errors.New("the process closed the connection, so it has probably ended")

// openWithin is how long a source may take to answer before the window.
const openWithin = 5 * time.Second

// bare removes addresses from an error, since messages name the source already.
func bare(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	if e, ok := errors.AsType[*net.OpError](err); ok {
		err = e.Err
	}
	return err
}
