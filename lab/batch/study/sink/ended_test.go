package main

import (
	"strings"
	"syscall"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/program"
)

// sending is so many files that a producer sends: more than a socket to listen on, what Go needs, and a sink.
func sending(before int) func(int) bool { return func(n int) bool { return n >= before+2 } }

// A signal ends the producer's run, and nothing is printed that looks like a trial.
func TestSignals(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		for _, args := range [][]string{{"--warmup", "600"}, {"--duration", "600"}, {"--find-limit", "--duration", "600"}} {
			producer, addr := producing(t, "--interval-ms", "10")
			before := files(t, producer)
			p := begin(t, append([]string{"--producer", addr}, args...)...)
			until(t, producer, "sending", sending(before))
			_ = p.Process.Signal(sig)
			if code := p.exit(t); code != program.Failure || p.stdout.Len() > 0 ||
				p.stderr.String() != "event_sink: ended by a signal; nothing was measured\n" {
				t.Errorf("%v, %v: exit status %d, %q, %q", sig, args, code, &p.stdout, &p.stderr)
			}
			until(t, producer, "ended", func(n int) bool { return n <= before+1 })
		}
	}
}

// If the sink is killed, its run ends, and the producer serves the next.
func TestTheSinkIsKilled(t *testing.T) {
	for _, variant := range []string{"pool-10", "async", "swap", "batch"} {
		t.Run(variant, func(t *testing.T) {
			t.Parallel()
			producer, addr := producing(t, "--variant", variant, "--interval-ms", "10")
			before := files(t, producer)
			p := begin(t, "--producer", addr, "--duration", "600", "--latency-ms", "5")
			until(t, producer, "sending", sending(before))
			_ = p.Process.Kill()
			p.exit(t)
			until(t, producer, "ended", func(n int) bool { return n <= before+1 })
			if out := measured(t, addr, "--duration", "0.2"); out.End.Added != out.End.Arrived {
				t.Errorf("%+v", out.End)
			}
		})
	}
}

// If the producer is killed, the sink reports an error of one line, within the window.
func TestTheProducerIsKilled(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--duration", "1"}, {"--duration", "1", "--find-limit"}} {
		producer, addr := producing(t, "--interval-ms", "10")
		before := files(t, producer)
		p := begin(t, append([]string{"--producer", addr}, args...)...)
		until(t, producer, "sending", sending(before))
		_ = producer.Process.Kill()
		_ = producer.Wait()
		if code := p.exit(t); code != program.Failure || p.stdout.Len() > 0 || strings.Count(p.stderr.String(), "\n") != 1 {
			t.Errorf("%v: exit status %d, %q, %q", args, code, &p.stdout, &p.stderr)
		}
	}
}
