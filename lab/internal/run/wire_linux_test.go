package run

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/slots"
	"github.com/line-rate/line-rate/lab/internal/wire"
	"github.com/line-rate/line-rate/lab/internal/wire/wiretest"
)

const shaped = "kind = \"netns\"\nline_rate_bps = 100_000_000\nburst_bytes = 262_144\nqueue_s = 0.02"

// Over a wire both sides start in its namespaces, and each slot has the bytes
// that went over the wire.
func TestARunOverAWire(t *testing.T) {
	t.Parallel()
	wiretest.NeedsWire(t)
	p := newPlace(t)
	x := design{topology: shaped, block: "slot_s = 0.1\nrounds = 3\nwarmup_s = 0.05"}.parse(t)
	p.until(func() []results.Trial {
		r := p.start(x)
		trials := p.block(r)
		sound(t, x, r.File)
		if len(r.File.Provenance.Commands) != 1 {
			t.Errorf("nothing says how the wire was made: %q", r.File.Provenance.Commands)
		}
		return trials
	}, func(trials []results.Trial) bool {
		for _, one := range trials {
			if closed(one, gate.WrongAnswer, gate.Errors, gate.NoRequests, gate.Connections) {
				t.Errorf("%s: %q", one.Condition, one.Reasons)
			}
			m := one.Metrics
			// each slot may begin with a burst
			idle := func(s slots.Slot) bool { return s.TxBytes <= 0 || s.RxBytes <= 0 }
			if s := one.Slots; len(s) != 3 || slices.ContainsFunc(s, idle) ||
				m["wire_tx_bps"] <= 0 || m["wire_tx_packets_per_s"] <= 0 || m["line_rate_share"] <= 0 ||
				m["line_rate_share"] > 1.5 {
				t.Errorf("%s: %+v, %v", one.Condition, s, m)
			}
		}
		// Answers of 4.5 kB fill a wire of 100 Mbit/s.
		return trials[0].Metrics["line_rate_share"] > 0.5
	})
	p.nothingRuns(t)
}

// A wire that ends by itself ends the run.
func TestAWireThatIsGone(t *testing.T) {
	t.Parallel()
	wiretest.NeedsWire(t)
	p := newPlace(t)
	x := design{topology: shaped, block: longBlock.block}.parse(t)
	r := p.start(x)
	killed := p.whileLoaded(func() {
		for _, pid := range p.children("exe") { // the wrappers of both sides name that which they enter
			line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			words := strings.Split(string(line), "\x00")
			if at := slices.Index(words, wire.EnterCall); at >= 0 {
				side, _ := strconv.Atoi(words[at+1])
				_ = syscall.Kill(side, syscall.SIGKILL)
				return
			}
		}
	})
	_, err := r.Block(t.Context())
	<-killed
	if err == nil || !strings.Contains(err.Error(), "the wire between server and client is gone") || len(r.File.Trials) > 0 {
		t.Errorf("%v, %v", r.File.Trials, err)
	}
	p.nothingRuns(t)
}
