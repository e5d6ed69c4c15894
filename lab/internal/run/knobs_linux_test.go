package run

import (
	"os"
	"path/filepath"
	"testing"
)

// A setting that is not restored ends the run with that message, whatever else
// happened, and the trials do not count: the machine is changed.
func TestARunWhoseKnobDoesNotComeBack(t *testing.T) {
	t.Parallel()
	needsWire(t)
	p := newPlace(t)
	x := design{topology: shaped, settings: "generator = \"http_load\"\nconnections = 4\nprefork = false\nroute = " +
		"\"/read\"", factor: "rps", levels: "[false, true]",
		block: "slot_s = 0.05\nrounds = 1\nwarmup_s = 0.05"}.parse(t)
	script := filepath.Join(p.root, "lab", "scripts", "tune-rps.sh")
	for does, says := range map[string]string{
		`echo tune ready; cat; echo "the kernel would not have it" >&2; exit 1`: "what tune-rps.sh changed was not " +
			"brought back (the kernel would not have it); lab/scripts/tune-rps.sh restore does it",
		`echo "this kernel has none" >&2; exit 3`: "this kernel has none",
		`echo tune ready; exit 0`:                 "tune-rps.sh ended before the trial did, so the knob was back too soon",
	} {
		if err := os.WriteFile(script, []byte("#!/bin/sh\n"+does+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		r := p.start(x)
		if trials, err := r.Block(t.Context()); trials != nil || err == nil || err.Error() != says {
			t.Errorf("%v, %v; want %q", trials, err, says)
		}
		p.nothingRuns(t)
	}
	// A setting that is restored lets the run go on, for any number of groups.
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho tune ready; cat >/dev/null; echo back >>"+
		filepath.Join(p.root, "back")+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if trials := p.block(p.start(x)); len(trials) != 3 {
		t.Errorf("%d trials", len(trials))
	}
	if back, err := os.ReadFile(filepath.Join(p.root, "back")); err != nil || string(back) != "back\n" {
		t.Errorf("%q, %v", back, err)
	}
}
