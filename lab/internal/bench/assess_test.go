package bench

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/probe"
	"github.com/line-rate/line-rate/lab/internal/slots"
)

// made is a run of two servers, of which the second costs so many times what the first does in each
// block; the first costs 10 µs, and the control repeats it.
func made(ratios ...float64) *Run {
	r := &Run{Bench: &Bench{Flags: Flags{Connections: 4, Pipelining: 1, Margin: 0.03, Budget: time.Minute, Warmup: new(time.Duration)},
		Requests: probe.Requests{{Method: "GET", Path: "/"}},
		Servers:  []*Server{{Name: "old", Command: []string{"a"}}, {Name: "new", Command: []string{"b"}}}}}
	for n, ratio := range ratios {
		b := Block{Took: time.Second}
		for _, times := range []float64{1, ratio, 1 + 1e-4*float64(1-2*(n%2))} { // the control is now above, now below
			b.Trials = append(b.Trials, measure.Trial{Metrics: map[string]float64{cost: 10e-6 * times, throughput: 1e5 / times,
				p50: 3e-4 * times, p99: 9e-4 * times, "client_thread_busy_max": 0.5, "client_cores_busy": 0.5, "server_cores_busy": 0.99}})
		}
		r.Blocks = append(r.Blocks, b)
	}
	return r
}

// each gives so many ratios, one after the other and from the first again.
func each(n int, of ...float64) (out []float64) {
	for i := range n {
		out = append(out, of[i%len(of)])
	}
	return out
}

// failing has so many of 30,000 answers of each server wrong.
func failing(old, new int64) func(*Run) {
	return func(r *Run) {
		for i, n := range []int64{old, new} {
			t := &r.Blocks[0].Trials[i].Tally
			if t.Failed, t.Asked = n, 30_000; n > 0 {
				t.First = "status 500"
			}
		}
	}
}

// changing has the bodies of some servers change, in so many blocks.
func changing(blocks int, servers ...int) func(*Run) {
	return func(r *Run) {
		for _, b := range r.Blocks[:blocks] {
			for _, i := range servers {
				b.Trials[i].Tally.Varies = true
			}
		}
	}
}

// warming has the cost of old and new change within each block.
func warming(by ...float64) func(*Run) {
	return func(r *Run) {
		r.Warmup = nil
		for _, b := range r.Blocks {
			for i, v := range by {
				b.Trials[i].Slots = []slots.Slot{{Requests: 100, ServerCPUS: 1}, {Requests: 200, ServerCPUS: 2 * v}}
			}
		}
	}
}

func TestWhatBlocksSay(t *testing.T) {
	for _, c := range []struct {
		name    string
		ratios  []float64
		change  func(*Run)
		verdict compare.Verdict
		above   string
		exit    int
		says    string
	}{
		{"dearer", each(7, 1.042, 1.031, 1.053), nil, compare.Dearer, "", 0, "new costs 4.2 % more CPU a request than old (+3.1 to +5.3 %)"},
		{"cheaper", each(7, 0.72, 0.71, 0.73), nil, compare.Cheaper, "", 0, "new costs 28.0 % less CPU a request than old (−29.0 to −27.0 %)"},
		{"several times as dear", each(7, 16.2, 16, 17), nil, compare.Dearer, "", 0, "new costs 16.2 times the CPU a request of old (16.0 to 17.0 times)"},
		{"same", each(7, 1.001, 0.99, 1.012), nil, compare.Same, "", 0, "the same within 3 %: new costs 0.1 % more"},
		{"same and not equal", each(7, 1.015, 1.01, 1.02), nil, compare.Same, "", 0, "though not equal: new costs 1.5 % more"},
		{"six blocks are too few, however clear", each(6, 2), nil, compare.Undecided, "", 1, "both new and old have valid trials in 6 of the 7 blocks"},
		{"neither", each(9, 1.04, 0.99, 1.02), nil, compare.Undecided, "", 1, "new costs between 1.0 % less and 4.0 % more CPU a request than old; about 5 more seconds would tell"},
		{"above the bar", each(7, 1.08, 1.07), func(r *Run) { r.FailAbove = 1.05 }, compare.Dearer, compare.AboveYes, 4, "new costs 8.0 % more"},
		{"the bar open", each(8, 1.04, 1.06), func(r *Run) { r.FailAbove = 1.05 }, compare.Dearer, compare.AboveOpen, 1, "above 1.05 is not decided"},
		{"a fault in most blocks", each(8, 1.5), func(r *Run) {
			for n := range 5 {
				r.Blocks[n].Trials[1].Faults = []measure.Fault{{Name: "errors", Detail: "3 of 9 requests failed"}}
			}
		}, compare.Invalid, "", 2, "no verdict: new failed in 5 of 8 blocks, first with: 3 of 9 requests failed"},
		{"as many wrong answers of both", each(7, 1.5), failing(30, 33), compare.Dearer, "", 0,
			"0.11 % of the answers of new (33 of 30,000) were 500; 0.10 % of the answers of old (30 of 30,000) were 500"},
		{"wrong answers of one", each(7, 1.5), failing(0, 30), compare.Failing, "", 2,
			"0.10 % of the answers of new (30 of 30,000) were 500"},
		{"many wrong answers", each(7, 1.5), failing(400, 400), compare.Failing, "", 2, "1.3 % of the answers of new"},
		{"bodies of both that change", each(7, 1.5), changing(7, 0, 1), compare.Dearer, "", 0, "new costs 50.0 % more"},
		{"bodies of one that change", each(7, 1.5), changing(4, 1), compare.Failing, "", 2,
			"no verdict on cost: the bodies of new change in the course of the load, and those of old do not"},
		{"bodies of one that changed once", each(7, 1.5), changing(3, 0), compare.Dearer, "", 0, "new costs 50.0 % more"},
		{"never steady", each(9, 1.5), warming(1, 1.1), compare.Undecided, "", 1,
			"never steady: from one half of a block to the other the CPU a request of new over that of old went to × 1.100"},
		{"both still warm up, and alike", each(9, 1.5), warming(0.7, 0.71), compare.Dearer, "", 0, "about the first seconds"},
		{"a control that differs", each(20, 1.5), func(r *Run) {
			for n := range r.Blocks {
				r.Blocks[n].Trials[2].Metrics[cost] = 11e-6
			}
		}, compare.Undecided, "", 1, "the A/A control has not agreed"},
		{"strangers that follow one", each(20, 1.05), func(r *Run) {
			for n := range r.Blocks {
				r.Blocks[n].Trials[0].Strangers = 0.1
			}
		}, compare.Undecided, "", 1, "more ran beside old than beside the other, in 20 of 20 blocks and by 0.10 of a core"},
		{"work that new leaves behind", each(7, 0.95), func(r *Run) {
			for n := range r.Blocks {
				r.Blocks[n].Trials[0].Metrics[gate.Idle] = 0.05
			}
		}, compare.Undecided, "", 1, "more ran beside old than beside the other, in 7 of 7 blocks and by 0.05"},
		{"strangers that do not explain it", each(20, 1.5), func(r *Run) {
			for n := range r.Blocks {
				r.Blocks[n].Trials[0].Strangers = 0.1
			}
		}, compare.Dearer, "", 0, "new costs 50.0 % more"},
		{"addresses alone", each(8, 1.5), func(r *Run) { r.Servers[0].URL, r.Servers[1].URL = "http://h:1", "http://h:2" }, compare.Uncosted, "", 0, "no verdict on cost"},
	} {
		r := made(c.ratios...)
		if c.change != nil {
			c.change(r)
		}
		out := r.Assess()
		if got := out.Comparisons[0]; got.Verdict != c.verdict || got.Above != c.above || out.Status() != c.exit || !strings.Contains(got.Says+"; "+got.Failed, c.says) {
			t.Errorf("%s: %s, %q, exit %d: %s", c.name, got.Verdict, got.Above, out.Status(), got.Says)
		}
	}
}

// By hand: the squares of the logarithms of these ratios have the median 0.0004. From half to half, of one slot each, a
// ratio changes by 2 %, so it varies by 0.0002 a round, and by 0.0003 between blocks. A block takes 3 s and 1 s a round.
func TestLaterBlocksHaveTheRoundsThatTellMost(t *testing.T) {
	var ratios []float64
	for _, v := range []float64{-0.03, 0.01, -0.02, 0, 0.03, 0.02, -0.01} {
		ratios = append(ratios, math.Exp(v))
	}
	r := made(ratios...)
	warming(1, math.Exp(0.02))(r)
	r.beside, r.round = 3*time.Second, time.Second
	if got := r.worth(); math.Abs(got-math.Sqrt2) > 1e-3 {
		t.Errorf("%v rounds, want the root of 3 · 2/3", got)
	}
	warming(1, 1)(r)
	if got := r.worth(); got != 0 {
		t.Errorf("%v rounds of slots that do not differ", got)
	}
}

// The order of a block is fair: each server has one slot in each round, and what it is called decides
// nothing. It is the same whenever it is drawn.
func TestTheOrderOfABlock(t *testing.T) {
	r := made()
	r.Seed, r.Rounds = 7, 60
	first := map[int]int{}
	for n := range 50 {
		order := r.order(n)
		for round := range slices.Chunk(order, 3) {
			first[round[0]]++
			if sorted := slices.Sorted(slices.Values(round)); !slices.Equal(sorted, []int{0, 1, 2}) {
				t.Fatal(round)
			}
		}
		if !slices.Equal(order, r.order(n)) || slices.Equal(order, r.order(n+1)) {
			t.Fatal(n)
		}
	}
	for i := range 3 { // of 3,000: a standard deviation is 26
		if first[i] < 900 || first[i] > 1100 {
			t.Error(first)
		}
	}
}

func TestRatesAreEachThereOnce(t *testing.T) {
	for text, want := range map[string]int{"200": 1, "1000,2000,50%": 3, "10%..90%": 9} {
		var r Rates
		if err := r.UnmarshalText([]byte(text)); err != nil || len(r) != want {
			t.Errorf("%s: %v, %v", text, r, err)
		}
	}
}

// It refuses what only a shell would understand, and a quoted text is a word.
func TestWordsForAShell(t *testing.T) {
	for command, says := range map[string]string{
		"./s --port {port} | tee log": `"|" is for a shell`, "./s --port {port} 2>log": `"2>log" is for a shell`,
		"A=$B ./s --port {port};": `"{port};" is for a shell`, "./s --port $PORT {port}": `"$PORT" is for a shell`,
		"nginx -g 'daemon off;' -p {port}": "", "PORT={port} ./s": "env PORT={port} ./s", "sh -c 'exec ./s {port} >log'": "", "./s": "neither {port} nor {addr}",
		"./s --port {prt}": "neither {port} nor {addr}", "./s 'a --port {port}": "a quote ' that does not end",
	} {
		_, err := parseServer("a=" + command)
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%s: %v, want %q", command, err, says)
		}
	}
}
