package main

import (
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/program"
	"github.com/line-rate/line-rate/lab/study/event"
)

// A signal stops the producer first, and nothing is printed that looks like a trial.
func TestSignals(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		for _, args := range [][]string{{"--warmup", "600"}, {"--duration", "600"}, {"--find-limit", "--duration", "600"}} {
			_, url := producing(t, "--interval-ms", "10")
			p := begin(t, append([]string{"--producer", url}, args...)...)
			until(t, url, "delivered", func(f event.Figures) bool { return f.Delivered > 0 })
			_ = p.Process.Signal(sig)
			if code := p.exit(t); code != program.Failure || p.stdout.Len() > 0 ||
				p.stderr.String() != "event_sink: ended by a signal; nothing was measured\n" {
				t.Errorf("%v, %v: exit status %d, %q, %q", sig, args, code, &p.stdout, &p.stderr)
			}
			if _, f := asked(t, http.MethodGet, url+"/figures"); f.Drained == nil || !*f.Drained || f.Delivered != f.Added {
				t.Errorf("%v, %v: the producer was not stopped: %+v", sig, args, f)
			}
		}
	}
}

// If the sink is killed, its producer counts what it cannot deliver, and can be stopped
// and started again.
func TestTheSinkIsKilled(t *testing.T) {
	for _, variant := range []string{"pool-10", "async", "swap", "batch"} {
		t.Run(variant, func(t *testing.T) {
			t.Parallel()
			_, url := producing(t, "--variant", variant, "--interval-ms", "10")
			p := begin(t, "--producer", url, "--duration", "600", "--latency-ms", "5")
			until(t, url, "delivered", func(f event.Figures) bool { return f.Delivered > 0 })
			_ = p.Process.Kill()
			p.exit(t)
			until(t, url, "failed", func(f event.Figures) bool { return f.Failed > 0 })
			code, f := asked(t, http.MethodPost, url+"/stop")
			if code != 200 || f.Added != f.Delivered+f.Failed || f.Queued != 0 || !*f.Drained {
				t.Errorf("%d, %+v", code, f)
			}
			if out := measured(t, url, "--duration", "0.2"); out.End.Added != out.End.Arrived {
				t.Errorf("%+v", out.End)
			}
		})
	}
}

// If the producer is killed, the sink reports an error of one line, within the window.
func TestTheProducerIsKilled(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--duration", "1"}, {"--duration", "1", "--find-limit"}} {
		producer, url := producing(t, "--interval-ms", "10")
		p := begin(t, append([]string{"--producer", url}, args...)...)
		until(t, url, "delivered", func(f event.Figures) bool { return f.Delivered > 0 })
		_ = producer.Process.Kill()
		_ = producer.Wait()
		if code := p.exit(t); code != program.Failure || p.stdout.Len() > 0 || strings.Count(p.stderr.String(), "\n") != 1 {
			t.Errorf("%v: exit status %d, %q, %q", args, code, &p.stdout, &p.stderr)
		}
	}
}
