// Command gnet_server answers the peers' routes from gnet's event loops, with a codec that
// parses only what these answers depend on: the method, the path, and the end of the head.
//
// gnet is a network library, without HTTP. A server for more than a measurement would
// also need bodies of requests, chunks, a check of header lines and of the version,
// Connection: close, and timeouts. A head of more than 16 KiB ends its connection.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/panjf2000/gnet/v2"
	"go.uber.org/zap"

	"github.com/line-rate/line-rate/lab/internal/program"
)

const help = `gnet_server answers /simple and /read from gnet's event loops.

Usage: gnet_server [--addr HOST:PORT] [--bodies DIR] [--threads N]
`

// maxHead is the most of a request that is kept, in bytes.
const maxHead = 16 << 10

var self = program.Program{Name: "gnet_server", Out: os.Stdout, Errs: os.Stderr}

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	addr, dir, threads := "127.0.0.1:8083", ".tools/peers/bodies", 1
	fs := program.NewFlags()
	fs.StringVar(&addr, "addr", addr, "")
	fs.StringVar(&dir, "bodies", dir, "")
	fs.Whole("threads", &threads, 1, 256)
	if status, over := self.Over(fs.Read(args, ""), help); over {
		return status
	}
	s, err := newServer(dir, addr)
	if err != nil {
		self.Say("--bodies: %v; make peers writes the bodies", err)
		return program.Failure
	}
	// One for each loop, and one for that which accepts. A Go program that may use one core
	// only is given one, and then the loops take it from each other whenever they wait.
	runtime.GOMAXPROCS(threads + 1)
	asked := program.Asked()
	ended := make(chan error, 1)
	go func() {
		ended <- gnet.Run(s, "tcp://"+addr, gnet.WithNumEventLoop(threads), gnet.WithReuseAddr(true), gnet.WithTicker(true),
			gnet.WithLogger(zap.NewNop().Sugar()))
	}()
	select {
	case <-asked: // at once: nothing here is worth waiting for
		return program.OK
	case err = <-ended:
	}
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		self.Say("%s is already in use; stop the other server or choose another with --addr", addr)
		return program.InUse
	default:
		self.Say("serve: %v", err)
		return program.Failure
	}
}

// Answers are a status, the date, and a rest that never changes.
const (
	ok200   = "HTTP/1.1 200 OK\r\nDate: "
	missing = "HTTP/1.1 404 Not Found\r\nDate: "
	refused = "HTTP/1.1 405 Method Not Allowed\r\nDate: "
)

type server struct {
	gnet.BuiltinEventEngine
	addr             string
	simple           []byte
	read             [][]byte
	missing, refused []byte
	date             atomic.Pointer[[]byte]
}

func newServer(dir, addr string) (*server, error) {
	s := &server{addr: addr,
		missing: rest([]byte(`{"error":"no such route"}`)),
		refused: rest([]byte(`{"error":"method not allowed"}`)),
	}
	simple, err := lines(filepath.Join(dir, "simple.jsonl"))
	if err != nil {
		return nil, err
	}
	s.simple = rest(simple[0])
	read, err := lines(filepath.Join(dir, "read.jsonl"))
	if err != nil {
		return nil, err
	}
	for _, body := range read {
		s.read = append(s.read, rest(body))
	}
	s.OnTick()
	return s, nil
}

func lines(path string) ([][]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	text, whole := bytes.CutSuffix(text, []byte{'\n'})
	if !whole {
		return nil, fmt.Errorf("%s: it does not end with a line", path)
	}
	return bytes.Split(text, []byte{'\n'}), nil
}

// rest is an answer from behind its date.
func rest(body []byte) []byte {
	return fmt.Appendf(nil, "\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

// gnet calls OnBoot when the server listens.
func (s *server) OnBoot(gnet.Engine) gnet.Action {
	self.Say("listening addr=%s", s.addr)
	return gnet.None
}

// OnTick keeps the date.
func (s *server) OnTick() (time.Duration, gnet.Action) {
	now := time.Now()
	date := []byte(now.UTC().Format(http.TimeFormat))
	s.date.Store(&date)
	return now.Truncate(time.Second).Add(time.Second).Sub(now), gnet.None
}

var (
	endOfHead = []byte("\r\n\r\n")
	get       = []byte("GET ")
	buffers   = sync.Pool{New: func() any { return new([]byte) }}
)

// OnTraffic answers all whole requests that have arrived, in one write.
func (s *server) OnTraffic(c gnet.Conn) gnet.Action {
	in, err := c.Peek(-1)
	if err != nil {
		return gnet.Close
	}
	buffer := buffers.Get().(*[]byte)
	out, used := (*buffer)[:0], 0
	for {
		n := bytes.Index(in[used:], endOfHead)
		if n < 0 {
			break
		}
		out = s.answer(out, in[used:used+n])
		used += n + len(endOfHead)
	}
	left := len(in) - used
	if used > 0 {
		_, _ = c.Discard(used)
		_, err = c.Write(out)
	}
	*buffer = out
	buffers.Put(buffer)
	if err != nil || left > maxHead {
		return gnet.Close
	}
	return gnet.None
}

// answer appends the answer to a request by its head.
func (s *server) answer(out, head []byte) []byte {
	path, ok := bytes.CutPrefix(head, get)
	if !ok {
		return s.whole(out, refused, s.refused)
	}
	end := bytes.IndexByte(path, ' ')
	switch string(path[:max(end, 0)]) {
	case "/simple":
		return s.whole(out, ok200, s.simple)
	case "/read":
		return s.whole(out, ok200, s.read[rand.IntN(len(s.read))])
	}
	return s.whole(out, missing, s.missing)
}

func (s *server) whole(out []byte, status string, rest []byte) []byte {
	out = append(out, status...)
	out = append(out, *s.date.Load()...)
	return append(out, rest...)
}
