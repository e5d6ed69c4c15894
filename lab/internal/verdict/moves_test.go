package verdict

import (
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/verdict/sample"
)

const wallMoves = `{ id = "c", kind = "moves", text = "t", why = "Made up.", over = "workers", from = "wire", to = "server-cpu", margin = 0.1, needs = { line_rate = true } }`

// A used is how much of each wall a trial used; below 0: not recorded.
type used struct{ wire, server, client float64 }

const unread = -1

var (
	atTheWire   = used{0.95, 0.7, 0.5}
	atTheServer = used{0.6, 0.97, 0.5}
)

func (u used) give(t *results.Trial) {
	sample.Bound(t, gate.BoundUnknown)
	for name, v := range map[string]float64{"line_rate_share": u.wire, "server_cores_busy": u.server,
		"client_cores_busy": u.client, "client_thread_busy_max": u.client} {
		if v >= 0 {
			t.Metrics[name] = v
		}
	}
}

// walls makes a run over a wire. f says what a trial used.
func walls(x *experiment.Experiment, blocks int, f func(ls setting.Levels, block int) used) *results.File {
	r := sample.Run(x, blocks, func(setting.Levels, int) sample.Figures { return sample.Figures{sample.Rps: 1000} })
	r.Topology = results.Topology{Kind: "netns", LineRateBps: 5e8}
	for i := range r.Trials {
		f(r.Conditions[slices.IndexFunc(r.Conditions,
			func(c results.Condition) bool { return c.ID == r.Trials[i].Condition })].Levels,
			r.Trials[i].Block).give(&r.Trials[i])
	}
	return r
}

// Ten blocks, all alike. Of ten blocks that all say the same, the e-value against
// chance is above twenty; of ten that cannot tell it stays below one.
func TestAWallThatMoves(t *testing.T) {
	for _, c := range []struct {
		name        string
		first, last used
		want        Verdict
		says        string
	}{
		{"from the wire to the server", atTheWire, atTheServer, Reproduced,
			"the wall moved from the wire to the server's CPU in 10 of 10 blocks (where workers is 1, the wire alone was " +
				"full in 10 of 10 trials, and where it is 2, the server's CPU alone in 10)"},

		// What was not seen, or was seen beside another wall, is evidence of nothing.
		{"to nobody knows where", atTheWire, used{unread, unread, unread}, Inconclusive, "10 cannot tell"},
		{"to a server that was not recorded", atTheWire, used{0.6, unread, 0.5}, Inconclusive, "10 cannot tell"},
		{"from a wire that was not read", used{unread, 0.7, 0.5}, atTheServer, Inconclusive, "10 cannot tell"},
		{"to a server beside a wire that was not read", atTheWire, used{unread, 0.97, 0.5}, Inconclusive, "10 cannot tell"},
		{"to a server beside a client that is full too", atTheWire, used{0.6, 0.97, 0.95}, Inconclusive, "10 cannot tell"},
		{"from a wire beside a client that is full too", used{0.95, 0.7, 0.95}, atTheServer, Inconclusive, "10 cannot tell"},
		{"to a server beside the wire", atTheWire, used{0.95, 0.97, 0.5}, Inconclusive, "10 cannot tell"},
		{"from a wire beside the server", used{0.95, 0.97, 0.5}, atTheServer, Inconclusive, "10 cannot tell"},
		{"both at both", used{0.95, 0.97, 0.5}, used{0.95, 0.97, 0.5}, Inconclusive, "10 cannot tell"},
		{"to a server beside a client that was not recorded", atTheWire, used{0.6, 0.97, unread}, Inconclusive,
			"10 cannot tell"},
		{"from a wire beside a client that was not recorded", used{0.95, 0.7, unread}, atTheServer, Inconclusive,
			"10 cannot tell"},

		// A full client keeps the server from its wall: this refutes nothing.
		{"to the client", atTheWire, used{0.6, 0.7, 0.95}, Inconclusive, "10 cannot tell"},
		{"from the client", used{0.6, 0.7, 0.95}, atTheServer, Inconclusive, "10 cannot tell"},
		{"to a server with room beside a client that was not recorded", atTheWire, used{0.6, 0.7, unread}, Inconclusive,
			"10 cannot tell"},

		// The threshold is crossed, but nothing has moved.
		{"on both sides of the threshold", used{0.91, 0.89, 0.5}, used{0.89, 0.91, 0.5}, Inconclusive,
			"in 10 both ends are as claimed, but their use changed by less than 10\u00a0%"},
		{"to a server that was nearly full", used{0.95, 0.88, 0.5}, used{0.6, 0.97, 0.5}, Inconclusive, "by less than"},
		{"from a wire that stays nearly full", used{0.95, 0.7, 0.5}, used{0.88, 0.97, 0.5}, Inconclusive, "by less than"},
		{"by a little more than the margin", used{0.92, 0.85, 0.5}, used{0.81, 0.96, 0.5}, Reproduced, "in 10 of 10"},

		{"it stays", atTheWire, atTheWire, Refuted,
			"in 0 of 10 blocks (where workers is 1, the wire alone was full in 10 of 10 trials, and where it is 2, the " +
				"server's CPU alone in 0); in 10 a wall had room where it was to be met, and so had the client"},
		{"it was the server all along", atTheServer, atTheServer, Refuted, "in 10 a wall had room"},
		{"the other way", atTheServer, atTheWire, Refuted, "in 10 a wall had room"},
		{"to none", atTheWire, used{0.6, 0.7, 0.5}, Refuted, "in 10 a wall had room"},
		{"from none", used{0.6, 0.7, 0.5}, atTheServer, Refuted, "in 10 a wall had room"},
	} {
		x := sample.Design(t, "", wallMoves)
		r := walls(x, 10, func(ls setting.Levels, _ int) used {
			if ls[setting.Workers] == setting.Int(1) {
				return c.first
			}
			return c.last
		})
		got := one(t, x, r, sample.Machine)
		if got.Verdict != c.want || !strings.Contains(got.Reason, c.says) {
			t.Errorf("%s: %s (%s), want %s (%s)", c.name, got.Verdict, got.Reason, c.want, c.says)
		}
		if c.want == Inconclusive && (got.For != 0 || got.Against != 0) {
			t.Errorf("%s: %d blocks for it and %d against", c.name, got.For, got.Against)
		}
	}
}

// Blocks that cannot tell weigh against both answers, as for every claim: eleven of
// twelve are enough, ten of eleven are not.
func TestAWallThatMovesInSomeBlocks(t *testing.T) {
	for _, c := range []struct {
		blocks, full, stays int // of the blocks, in how many the client is full too, and in how many the wire stays the wall
		want                Verdict
	}{
		{5, 0, 0, Inconclusive}, {10, 0, 0, Reproduced}, {12, 1, 0, Reproduced}, {11, 1, 0, Inconclusive},
		{12, 0, 1, Reproduced}, {11, 0, 1, Inconclusive},
		{10, 10, 0, Inconclusive}, {12, 1, 11, Refuted}, {11, 1, 10, Inconclusive}, {10, 0, 5, Inconclusive},
	} {
		x := sample.Design(t, "", wallMoves)
		r := walls(x, c.blocks, func(ls setting.Levels, b int) used {
			u := atTheServer
			if ls[setting.Workers] == setting.Int(1) || b > c.blocks-c.stays {
				u = atTheWire
			}
			if b <= c.full {
				u.client = 0.95
			}
			return u
		})
		if got := one(t, x, r, sample.Machine); got.Verdict != c.want || got.For != c.blocks-c.full-c.stays ||
			got.Against != c.stays {
			t.Errorf("%+v: %s, %d for, %d against (%s)", c, got.Verdict, got.For, got.Against, got.Reason)
		}
	}
}

// The wall has to move at every level of the other factors, and levels between
// the first and the last do not matter.
func TestAWallThatMovesAmongOtherFactors(t *testing.T) {
	x := sample.Design(t, `{ name = "workers", levels = [1, 2, 4] }, { name = "pipelining", levels = [1, 10] }`, wallMoves)
	for _, c := range []struct {
		deep, between used
		want          Verdict
	}{
		{atTheServer, used{unread, unread, unread}, Reproduced},
		{atTheServer, atTheWire, Reproduced},
		{atTheWire, atTheServer, Refuted},
		{used{0.6, 0.97, 0.95}, atTheServer, Inconclusive},
	} {
		r := walls(x, 10, func(ls setting.Levels, _ int) used {
			switch n, _ := ls[setting.Workers].Int(); {
			case n == 1:
				return atTheWire
			case n == 2:
				return c.between
			case ls[setting.Pipelining] == setting.Int(10):
				return c.deep
			}
			return atTheServer
		})
		if got := one(t, x, r, sample.Machine); got.Verdict != c.want {
			t.Errorf("%+v: %s (%s)", c, got.Verdict, got.Reason)
		}
	}
}

// What keeps every other claim from being decided keeps this one too: trials that
// are not valid, a core slowed by another program, cores that both sides share.
func TestAWallThatCannotBeSeenToMove(t *testing.T) {
	x := sample.Design(t, "", wallMoves)
	moves := func() *results.File {
		return walls(x, 10, func(ls setting.Levels, _ int) used {
			if ls[setting.Workers] == setting.Int(1) {
				return atTheWire
			}
			return atTheServer
		})
	}
	for name, c := range map[string]struct {
		change func(*results.File)
		want   Verdict
	}{
		"nothing":         {func(*results.File) {}, Reproduced},
		"invalid trials":  {func(r *results.File) { spoilAll(r, 1) }, Invalid},
		"shared cores":    {func(r *results.File) { r.Provenance.ClientCPUs = "1-2" }, NotApplicable},
		"cores not given": {func(r *results.File) { r.Provenance.ClientCPUs = "" }, NotApplicable},
		"a slow core": {func(r *results.File) {
			r.Provenance.CalibrationS = 1e-6
			for i := range r.Trials {
				r.Trials[i].Metrics["calibration_before_s"], r.Trials[i].Metrics["calibration_after_s"] = 1.6e-6, 1.7e-6
			}
		}, Inconclusive},
		"loopback": {func(r *results.File) {
			r.Topology = results.Topology{Kind: "loopback"}
			forget(r,
				"line_rate_share")
		}, NotApplicable},
		"one condition": {func(r *results.File) { r.Conditions = r.Conditions[1:] }, NotApplicable},
	} {
		r := moves()
		c.change(r)
		if got := one(t, x, r, sample.Machine); got.Verdict != c.want {
			t.Errorf("%s: %s (%s), want %s", name, got.Verdict, got.Reason, c.want)
		}
	}
}

// spoilAll makes one of each two trials invalid.
func spoilAll(r *results.File, of int) {
	for i := of; i < len(r.Trials); i += 2 {
		sample.Spoil(&r.Trials[i])
	}
}

func forget(r *results.File, name string) {
	for i := range r.Trials {
		delete(r.Trials[i].Metrics, name)
	}
}
