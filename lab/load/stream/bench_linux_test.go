package stream

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const (
	benchServer = "LINE_RATE_BENCH_STREAM"
	message     = "id: %d\ndata: {\"at\":%d,\"text\":\"a message of some hundred bytes, more or less, as one may look\"}\n\n"
)

// TestMain lets the test's program be the benchmark's server, whose CPU time must not be in that
// of the readers.
func TestMain(m *testing.M) {
	var network, addr string
	var atOnce int
	if n, _ := fmt.Sscan(os.Getenv(benchServer), &network, &addr, &atOnce); n == 3 {
		publish(network, addr, atOnce)
		return
	}
	os.Exit(m.Run())
}

// publish writes events to all connections that have asked, one after the other, and says at
// which address. It is as cheap as one can be, and answers whatever is asked.
func publish(network, addr string, atOnce int) {
	l, err := net.Listen(network, addr)
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr().String())
	opened := make(chan *os.File, 4096)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				panic(err)
			}
			_, _ = conn.Read(make([]byte, 4096))
			f, err := conn.(interface{ File() (*os.File, error) }).File()
			if err != nil {
				panic(err)
			}
			conn.Close()
			_ = unix.SetNonblock(int(f.Fd()), true)
			const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
			_, _ = unix.Write(int(f.Fd()), []byte(head))
			opened <- f
		}
	}()
	var all []*os.File
	for id := 0; ; {
		for len(opened) > 0 {
			all = append(all, <-opened)
		}
		var chunks []byte
		for range atOnce {
			id++
			text := fmt.Sprintf(message, id, time.Now().UnixNano())
			chunks = fmt.Appendf(chunks, "%x\r\n%s\r\n", len(text), text)
		}
		kept := all[:0]
		for _, f := range all {
			if _, err := unix.SendmsgN(int(f.Fd()), chunks, nil, nil, unix.MSG_NOSIGNAL); err == unix.EPIPE || err == unix.ECONNRESET {
				f.Close()
				continue
			}
			kept = append(kept, f)
		}
		all = kept
		time.Sleep(5 * time.Millisecond)
	}
}

// BenchmarkReader prints the CPU time that an event takes of this reader, and of one with a
// goroutine for each connection, in turns on the same stream. It asserts nothing. Over TCP most
// of it is the kernel's: a socket from which all was read sends an ACK, and delivers it too if
// the other end is on the same machine. That is paid for each read; so what four events a
// write cost, and a Unix socket without ACKs, tells what the reader's own part is.
func BenchmarkReader(b *testing.B) {
	for _, c := range []struct {
		name, network, addr string
		atOnce              int
	}{
		{"tcp", "tcp", "127.0.0.1:0", 1},
		{"tcp-4-a-write", "tcp", "127.0.0.1:0", 4},
		{"tcp-16-a-write", "tcp", "127.0.0.1:0", 16},
		{"unix", "unix", filepath.Join(b.TempDir(), "s"), 1},
	} {
		b.Run(c.name, func(b *testing.B) { besideGoroutines(b, c.network, c.addr, c.atOnce) })
	}
}

func besideGoroutines(b *testing.B, network, addr string, atOnce int) {
	own, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	_ = os.Remove(addr) // of the last call
	server := exec.Command(own)
	server.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %d", benchServer, network, addr, atOnce))
	out, err := server.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := server.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() { _ = server.Process.Kill(); _ = server.Wait() }()
	if _, err := fmt.Fscan(out, &addr); err != nil {
		b.Fatal(err)
	}
	const connections, warmUp, window = 1000, 300 * time.Millisecond, time.Second
	var mine, theirs, rate, p50 float64
	for range b.N {
		r, err := Run(b.Context(), &Plan{Addresses: []string{addr}, Paths: []string{"/"}, Connections: connections,
			WarmUp: warmUp, Window: window})
		if err != nil {
			b.Fatal(err)
		}
		if len(r.Faults) > 0 || r.Window.Missed+r.Window.Repeated+r.Window.Reordered > 0 {
			b.Fatalf("%+v %+v", r.Faults, r.Window)
		}
		mine += r.CPUSeconds / float64(r.Window.Events)
		rate += float64(r.Window.Events) / r.Seconds
		p50 += r.Latency.Quantile(0.5)
		theirs += goroutines(b, network, addr, connections, warmUp, window)
	}
	n := float64(b.N)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(mine/n*1e6, "client-us/event")
	b.ReportMetric(theirs/n*1e6, "goroutines-us/event")
	b.ReportMetric(rate/n, "events/s")
	b.ReportMetric(p50/n*1e6, "p50-us")
}

// goroutines reads the same stream as a Go program would, and returns the CPU seconds an event.
func goroutines(b *testing.B, network, addr string, connections int, warmUp, window time.Duration) float64 {
	ctx, cancel := context.WithCancel(b.Context())
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, addr)
	}}}
	var events atomic.Int64
	var running sync.WaitGroup
	for range connections {
		running.Go(func() {
			request, _ := http.NewRequestWithContext(ctx, "GET", "http://reader/", nil)
			answer, err := client.Do(request)
			if err != nil {
				b.Error(err)
				return
			}
			defer answer.Body.Close()
			for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
				if len(lines.Bytes()) == 0 {
					events.Add(1)
				}
			}
		})
	}
	cpu := func() int64 {
		var t unix.Timespec
		_ = unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t)
		return t.Nano()
	}
	time.Sleep(2 * warmUp)
	n, from := events.Load(), cpu()
	time.Sleep(window)
	n, from = events.Load()-n, cpu()-from
	cancel()
	running.Wait()
	return float64(from) / 1e9 / float64(n)
}

// BenchmarkEvents prints what an event costs without the kernel: framing, parsing, counting.
func BenchmarkEvents(b *testing.B) {
	p := &Plan{Addresses: []string{"127.0.0.1:1"}, Paths: []string{"/"}, Connections: 1000, Window: 1}
	w, err := (&run{plan: p, origin: time.Now()}).newThread(0, 1)
	if err != nil {
		b.Fatal(err)
	}
	defer unix.Close(w.epoll)
	w.stage = counting
	for i := range w.conns {
		w.conns[i].state, w.conns[i].body = isReading, body{state: ofChunkSize, chunked: true}
	}
	var chunk []byte
	for i := 0; b.Loop(); i++ {
		if i%len(w.conns) == 0 {
			text := fmt.Sprintf(message, i/len(w.conns), time.Now().UnixNano())
			chunk = fmt.Appendf(chunk[:0], "%x\r\n%s\r\n", len(text), text)
		}
		w.now = time.Since(w.run.origin).Nanoseconds()
		w.take(&w.conns[i%len(w.conns)], chunk)
	}
	if w.paths[0].Events == 0 || len(w.faults) > 0 {
		b.Fatalf("%+v", w.paths[0].Counts)
	}
}
