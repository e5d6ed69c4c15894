package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/session"
	"github.com/line-rate/line-rate/lab/internal/wire/wiretest"
)

func TestAloneWholeWay(t *testing.T) {
	for name, topology := range map[string]string{"loopback": loopback, "wire": thin} {
		t.Run(name, func(t *testing.T) {
			if topology == thin {
				wiretest.NeedsWire(t)
			}
			// Two blocks are enough to see the whole way, and too few to decide; a second
			// block over the wire would show nothing more.
			blocks := map[string]int{loopback: 2, thin: 1}[topology]
			c := newClone(t, topology, "/read", blocks, 1)
			s := c.run()
			const want = int(session.NotHeld)
			verdict := "99-tiny/count  inconclusive  " +
				map[int]string{1: "1 block is too few", 2: "2 blocks are too few"}[blocks]
			if s.status != want {
				t.Fatalf("exit %d, want %d", s.status, want)
			}
			f := c.only()
			controls := 0
			for _, cond := range f.Conditions {
				if cond.ControlOf != "" {
					controls++
				}
			}
			if controls != 1 {
				t.Errorf("%d A/A controls, want one", controls)
			}
			if len(f.Trials) < 3*blocks || f.Provenance.Seed == 0 || len(f.Conditions) != 3 {
				t.Errorf("%d trials, seed %d, %d conditions", len(f.Trials), f.Provenance.Seed, len(f.Conditions))
			}
			for _, want := range []string{verdict, "results: data/results/99-tiny/" + f.Run + ".json"} {
				if !strings.Contains(s.out, want) {
					t.Errorf("standard output lacks %q", want)
				}
			}
			for _, m := range []string{"throughput_rps", "workers", "threads_per_worker", "server_cpu_per_request_s",
				"server_cores_busy", "client_thread_busy_max",
				"connections_established", "server_foreign_load", "sampler_busy", "calibration_before_s", "calibration_after_s",
				"asked_in_flight"} {
				if _, ok := f.Trials[len(f.Trials)-1].Metrics[m]; !ok {
					t.Errorf("the last trial lacks %s", m)
				}
			}
			if _, ok := f.Trials[0].Metrics["line_rate_share"]; ok != (topology == thin) {
				t.Errorf("a share of the line rate: %v", ok)
			}
			if got := finish(t, c.command("check")); got.status != exitHeld {
				t.Errorf("lab check exits %d after a run", got.status)
			}
			// The recorded data must not tell whose machine it was.
			text, err := os.ReadFile(filepath.Join(c.root, "data/results/99-tiny", f.Run+".json"))
			if err != nil {
				t.Fatal(err)
			}
			hostname, _ := os.Hostname()
			for _, private := range []string{c.root, os.Getenv("HOME") + "/"} {
				if private != "/" && bytes.Contains(text, []byte(private)) {
					t.Errorf("the results file holds %q", private)
				}
			}
			if len(hostname) > 3 && bytes.Contains(text, []byte(hostname)) {
				t.Errorf("the results file holds the hostname")
			}
		})
	}
}
