package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// One block is enough to see the whole way, and too little to decide.
func TestAloneWholeWay(t *testing.T) {
	c := newClone(t, loopback, 1)
	s := c.run()
	if s.status != exitNotHeld {
		t.Fatalf("exit %d, want %d", s.status, exitNotHeld)
	}
	f := c.only()
	if len(f.Trials) != 3 || f.Provenance.Seed == 0 || len(f.Conditions) != 3 || f.Conditions[2].ControlOf == "" {
		t.Errorf("%d trials, seed %d, conditions %+v", len(f.Trials), f.Provenance.Seed, f.Conditions)
	}
	for _, want := range []string{"99-tiny/count  open     workers where workers is 1: 1; 1 of 1 block lies at 1; ",
		"results: data/results/99-tiny/" + f.Run + ".json"} {
		if !strings.Contains(s.out, want) {
			t.Errorf("standard output lacks %q", want)
		}
	}
	last := f.Trials[len(f.Trials)-1].Metrics
	for _, m := range []string{"throughput_rps", "workers", "threads_per_worker", "server_cpu_per_request_s",
		"client_thread_busy_max", "connections_established", "server_foreign_load", "calibration_after_s", "asked_in_flight"} {
		if _, ok := last[m]; !ok {
			t.Errorf("the last trial lacks %s", m)
		}
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
	for _, private := range []string{c.root, os.Getenv("HOME") + "/", hostname} {
		if len(private) > 3 && bytes.Contains(text, []byte(private)) {
			t.Errorf("the results file holds %q", private)
		}
	}
}
