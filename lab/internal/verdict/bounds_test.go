package verdict

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/verdict/sample"
)

func TestBoundClaims(t *testing.T) {
	for _, c := range []struct {
		name string
		hits int // of twenty trials, two a block, the first so many are bounded by the wire
		want Verdict
		says string
	}{
		{"all", 20, Reproduced, "the wire alone was full in every trial of 10 of 10 blocks (20 of 20 trials); the least " +
			"full wire was at 93.0 %"},
		{"all but one", 19, Inconclusive, "the wire alone was full in every trial of 9 of 10 blocks (19 of 20 trials), " +
			"and had room in a trial of 1"},
		{"half", 10, Inconclusive, "every trial of 5 of 10"},
		{"one", 1, Refuted, "the wire alone was full in every trial of 0 of 10 blocks (1 of 20 trials), and had room in a " +
			"trial of 10"},
		{"none", 0, Refuted, "0 of 20"},
	} {
		x := sample.Design(t, "", sample.WireWall)
		r := sample.Ratios(x, slices.Repeat([]float64{1}, 10)...)
		for i := range r.Trials {
			sample.Bound(&r.Trials[i], gate.BoundServerCPU)
			r.Trials[i].Metrics["line_rate_share"] = 0.5
			if i < c.hits {
				sample.Bound(&r.Trials[i], gate.BoundWire)
				r.Trials[i].Metrics["line_rate_share"] = 0.93 + float64(i)/1000
			}
		}
		if got := one(t, x, r, sample.Machine); got.Verdict != c.want || !strings.Contains(got.Reason, c.says) {
			t.Errorf("%s: %s (%s), want %s (%s)", c.name, got.Verdict, got.Reason, c.want, c.says)
		}
	}
}

// If two walls were met, the trial is named for one of them: this is evidence
// neither against the other nor for it.
func TestAWallMetBesideAnotherIsNotRefuted(t *testing.T) {
	// If one block of twelve cannot tell, eleven against are enough; if two cannot,
	// they are not.
	for both, want := range map[int]Verdict{0: Refuted, 2: Refuted, 4: Inconclusive, 24: Inconclusive} {
		x := sample.Design(t, "", `{ id = "c", kind = "bound", text = "t", why = "Made up.", bound = "server-cpu" }`)
		r := sample.Ratios(x, slices.Repeat([]float64{1}, 12)...)
		for i := range r.Trials {
			sample.Bound(&r.Trials[i], gate.BoundClientCPU)
			if i < both {
				r.Trials[i].Metrics["server_cores_busy"] = 0.98
			}
		}
		if got := one(t, x, r, sample.Machine); got.Verdict != want || both > 0 &&
			!strings.Contains(got.Reason, fmt.Sprintf("in %d more", both)) {
			t.Errorf("%d of 24: %s (%s), want %s", both, got.Verdict, got.Reason, want)
		}
	}
}

func TestWhereTheClientIsTheWallItsFiguresAreInvalid(t *testing.T) {
	for n, want := range map[int]Verdict{1: Reproduced, 7: Inconclusive, 8: Invalid, 14: Invalid} {
		x := sample.Design(t, "", sample.IsFlat, sample.Rename(sample.FlatCost, "cost"))
		r := sample.Ratios(x, slices.Repeat([]float64{1}, 14)...)
		for i := range n { // in one trial of n blocks
			sample.Bound(&r.Trials[2*i], gate.BoundClientCPU)
		}
		f := Decide(x, sample.Machine, []Run{{r, x}})
		says := fmt.Sprintf("in %d of 14 blocks the client's CPU was the wall, so the figures measure the client", n)
		if c := f.Claims[0]; c.Verdict != want || !strings.Contains(c.Reason, says) || c.Bounds["client-cpu"] != n {
			t.Errorf("throughput, %d blocks: %s (%s), bounds %v; want %s", n, c.Verdict, c.Reason, c.Bounds, want)
		}
		// The server's cost of a request does not depend on the client.
		if c := f.Claims[1]; c.Verdict != Reproduced {
			t.Errorf("CPU per request: %s (%s)", c.Verdict, c.Reason)
		}
	}
	// A wall that an invalid trial met does not count.
	x := sample.Design(t, "", sample.IsFlat)
	r := sample.Ratios(x, 1, 1, 1, 1, 1, 1, 1)
	spoiled := r.Trials[0]
	sample.Bound(&spoiled, gate.BoundClientCPU)
	sample.Spoil(&spoiled)
	r.Trials = append(r.Trials, spoiled)
	if c := one(t, x, r, sample.Machine); c.Verdict != Reproduced {
		t.Errorf("%s (%s)", c.Verdict, c.Reason)
	}
}
