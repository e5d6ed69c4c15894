package verdict

import (
	"fmt"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// The interval of its median block decides about a value and its band, also for 0, which no ratio
// has.
func TestValuesAgainstTheBand(t *testing.T) {
	value := func(bars string) string {
		return with(asMany, `"workers", equals = "workers"`, `"processes", at = { workers = 1 }, `+bars)
	}
	for _, c := range []struct {
		bars string
		of   []float64
		want Verdict
		says string
	}{
		{"at_least = 3", []float64{3, 4, 5, 3, 9, 3, 3, 3}, Confirmed, "3.0 (3.0 to 9.0); 8 of 8 blocks lie at 3 or above"},
		{"at_least = 3", []float64{3, 4, 5, 3, 9, 2, 3, 3}, Open, "7 of 8 blocks lie at 3 or above, and 1 does not"},
		{"at_least = 3", []float64{0, 1, 2, 2, 2, 2, 2, 2}, Refuted, "0 of 8 blocks lie at 3 or above, and 8 do not"},
		{"at_most = 3", []float64{0, 0, 3, 2, 1, 0, 0, 0}, Confirmed, ""},
		{"at_most = 3", times(8, 4), Refuted, ""},
		{"at_most = 3", times(5, 0), Open, "; 7 are the least that decide"},
		{"at_least = 2, at_most = 3", []float64{2, 3, 2, 3, 2, 3, 2, 3}, Confirmed, "8 of 8 blocks lie between 2 and 3"},
		{"at_least = 8, at_most = 8", times(8, 8), Confirmed, "processes: 8; 8 of 8 blocks lie at 8"},
		{"at_least = 0, at_most = 0", times(8, -1), Refuted, "0 of 8 blocks lie at 0, and 8 do not"},
		{"at_least = 8, at_most = 8", append(times(7, 8), 9), Open, "7 of 8 blocks lie at 8, and 1 does not"},
	} {
		x := designed(t, "", value(c.bars))
		r := madeUp(x, len(c.of), func(_ setting.Levels, b int) values {
			return values{"processes": c.of[b-1]}
		})
		got := one(x, r)
		if expect(t, c.bars, got, c.want, c.says); got.Effects != nil {
			t.Errorf("a value has ratios: %+v", got.Effects)
		}
	}
}

// A value of several conditions makes a comparison in each, and may equal the level of a setting.
func TestAValueMayEqualALevel(t *testing.T) {
	exact := func(ls setting.Levels, _ int) values {
		n, _ := ls[setting.Workers].Int()
		return values{"workers": float64(n)}
	}
	for _, c := range []struct {
		name, claim string
		set         func(*results.File)
		want        Verdict
		says        string
	}{
		{"exact", asMany, func(*results.File) {}, Confirmed,
			"all 2 comparisons hold; closest to the edge: workers where workers is 1: 1"},
		{"one more", with(asMany, ` }`, `, plus = 1 }`), func(*results.File) {}, Refuted, "0 of 14 blocks lie at 2"},
		{"off in one condition", asMany, func(r *results.File) {
			for i := range r.Trials {
				r.Trials[i].Metrics["workers"] = 1
			}
		}, Refuted, "workers where workers is 2: 1; 0 of 14 blocks lie at 2, and 14 do not"},
		{"one off in one trial", asMany, func(r *results.File) { r.Trials[11].Metrics["workers"] = 3 }, Confirmed,
			"all 2 comparisons hold; closest to the edge: workers where workers is 2: 2; 13 of 14 blocks lie at 2, and 1"},
		{"one without a figure", asMany, func(r *results.File) { delete(r.Trials[0].Metrics, "workers") }, Confirmed,
			"in 1 of 14 blocks a figure that the claim rests on was not recorded"},
		{"a setting of every trial", with(asMany, `equals = "workers"`, `equals = "connections"`),
			func(r *results.File) {
				for i := range r.Trials {
					r.Trials[i].Metrics["workers"] = 100
				}
			}, Confirmed, ""},
	} {
		x := designed(t, "", c.claim)
		r := madeUp(x, 14, exact)
		c.set(r)
		expect(t, c.name, one(x, r), c.want, c.says)
	}
}

func TestSharesAgainstTheBand(t *testing.T) {
	atMost := func(v string) string { return with(aTenth, "at_least = 0.1", "at_most = "+v) }
	const works = `{ id = "c", text = "t", why = "w", kind = "share", profile = "cpu", work = "write", at_least = 0.4 }`
	for _, c := range []struct {
		name, claim string
		of          []float64
		want        Verdict
		says        string
	}{
		{"all above", aTenth, []float64{0.2, 0.3, 0.1, 0.4, 0.5, 0.9, 0.35, 0.35}, Confirmed,
			"the share of " + lock + " in the block profile: 35 % (10 to 90); 8 of 8 blocks lie at 10 % or above"},
		{"one below", aTenth, []float64{0.2, 0.3, 0.1, 0.4, 0.5, 0.09, 0.2, 0.2}, Open, "and 1 does not"},
		{"all below", aTenth, []float64{0.01, 0, 0.05, 0.09, 0.02, 0.03, 0.03, 0}, Refuted, "0 of 8 blocks"},
		{"at most, all below", atMost("0.1"), []float64{0.01, 0, 0.05, 0.1, 0.02, 0.03, 0.03, 0}, Confirmed, ""},
		{"gone", atMost("0"), times(8, 0), Confirmed, "8 of 8 blocks lie at 0 % or below"},
		{"one sample in one", atMost("0"), []float64{0, 0, 0, 1e-6, 0, 0, 0, 0}, Open, "7 of 8 blocks lie at 0 % or below"},
		{"there all along", atMost("0"), times(8, 0.01), Refuted, ""},
		{"a kind of work, at all levels", works, times(9, 0), Confirmed, "of writing in the CPU profile where index is "},
	} {
		x := profileDesign(t, c.claim)
		c.says = strings.ReplaceAll(c.says, " %", "\u00a0%")
		expect(t, c.name, one(x, shares(x, c.of...)), c.want, c.says)
	}
	x := profileDesign(t, atMost("0"))
	each := func(name string, want Verdict, says string, change func(i int, t *results.Trial)) {
		r := shares(x, times(12, 0)...)
		for i := range r.Trials {
			change(i, &r.Trials[i])
		}
		expect(t, name, one(x, r), want, says)
	}
	each("without", NotApplicable, "in 12 of 12 blocks a figure", func(_ int, t *results.Trial) { t.Profiles = nil })
	each("one without", Confirmed, "in 1 of 12 blocks a figure", func(i int, t *results.Trial) {
		if i == 0 {
			t.Profiles = nil
		}
	})
	// A frame without a name could belong to any package.
	each("frames without a symbol", Open, "0 of 12 blocks lie at 0", func(_ int, t *results.Trial) {
		if p, _ := t.Profile(profile.Block); t.Condition == "c1" {
			p.Packages[profile.NoSymbol] = 0.1
		}
	})
	// A client that is the bottleneck does not affect what the server's profile says.
	each("a full client", Confirmed, "", func(_ int, t *results.Trial) { bounded(t, gate.BoundClientCPU) })
}

// Of a bottleneck each block says yes or no: it was the only one in all trials, or in one of them it was not.
func TestABottleneckIsAskedOfEachBlock(t *testing.T) {
	type used struct{ wire, server, client float64 } // below 0: not recorded
	const unread = -1
	full := map[string]used{"wire": {0.95, 0.7, 0.5}, "server-cpu": {0.6, 0.97, 0.5}, "client-cpu": {0.5, 0.5, 0.95}}
	for _, c := range []struct {
		name  string
		odd   int // of sixteen blocks, of which one trial is so
		of    used
		want  Verdict
		yes   int
		no    int
		bound string
	}{
		{"all alike", 0, used{}, Confirmed, 16, 0, ""},
		{"room in three blocks", 3, used{0.5, 0.5, 0.5}, Open, 13, 3, ""},
		{"room in all", 16, used{0.5, 0.5, 0.5}, Refuted, 0, 16, ""},
		{"half", 8, used{0.5, 0.5, 0.5}, Open, 8, 8, ""},
		{"the client instead", 16, used{0.5, 0.5, 0.95}, Refuted, 0, 16, "server-cpu"},
		{"beside another", 16, used{0.95, 0.97, 0.5}, Refuted, 0, 16, ""},
		{"not recorded in one block", 1, used{unread, unread, unread}, Confirmed, 15, 0, ""},
		{"not recorded in all", 16, used{unread, unread, unread}, NotApplicable, 0, 0, ""},
		{"a server beside a client that was not looked at", 16, used{0.6, 0.97, unread}, NotApplicable, 0, 0, "server-cpu"},
		{"a server beside a wire that was not read", 16, used{unread, 0.97, 0.5}, NotApplicable, 0, 0, "server-cpu"},
	} {
		for _, bound := range []string{"wire", "server-cpu", "client-cpu"} {
			if c.bound != "" && c.bound != bound || bound == "client-cpu" && c.name == "beside another" {
				continue
			}
			x := designed(t, "", with(wireWall, "wire", bound))
			r := ratios(x, times(16, 1)...)
			r.Topology = experiment.Topology{Kind: "netns", LineRateBps: 5e8}
			for i := range r.Trials {
				u := full[bound]
				if i%2 == 0 && i/2 < c.odd {
					u = c.of
				}
				bounded(&r.Trials[i], gate.BoundUnknown)
				for name, v := range map[string]float64{"line_rate_share": u.wire, "server_cores_busy": u.server,
					"client_cores_busy": u.client, "client_thread_busy_max": u.client} {
					if v >= 0 {
						r.Trials[i].Metrics[name] = v
					}
				}
			}
			got := one(x, r)
			says := ""
			if c.yes+c.no > 0 {
				says = fmt.Sprintf("alone was the bottleneck in %d of %d blocks", c.yes, c.yes+c.no)
			}
			if expect(t, c.name+", "+bound, got, c.want, says); got.For != c.yes || got.Against != c.no {
				t.Errorf("%s, %s: %+v", c.name, bound, got)
			}
		}
	}
	// Kept to some levels, it asks of those only.
	x := designed(t, "", with(wireWall, `"wire"`, `"client-cpu", at = { workers = 2 }`))
	r := ratios(x, times(9, 1)...)
	for i := range r.Trials {
		if r.Trials[i].Condition == "c2" {
			bounded(&r.Trials[i], gate.BoundClientCPU)
		}
	}
	if c := one(x, r); c.Verdict != Confirmed {
		t.Errorf("%+v", c)
	}
}
