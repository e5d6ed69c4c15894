package curve

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// A queue is a server with one worker: requests come at random (Poisson), and each takes an
// exponential time. That it has been at work for long, as formulas have it, is drawn: the
// first request finds a wait of its long-run distribution.
type queue struct {
	r  *rand.Rand
	mu float64 // requests a second that it can take
}

// slot is what a slot would be: the latencies follow Lindley's recursion.
func (q queue) slot(a Ask) Slot {
	s := Slot{Ask: a}
	n := int(a.RPS * a.Seconds)
	if a.RPS >= q.mu {
		s.Answered, s.Latency = int64(q.mu*a.Seconds), [4]float64{1, 1, 1, 1}
		return s
	}
	wait := 0.0 // idle, with a chance of 1-rho; else Exp(mu-lambda)
	if q.r.Float64() < a.RPS/q.mu {
		wait = q.r.ExpFloat64() / (q.mu - a.RPS)
	}
	all := make([]float64, n)
	for i := range all {
		all[i] = wait + q.r.ExpFloat64()/q.mu
		wait = max(0, all[i]-q.r.ExpFloat64()/a.RPS)
	}
	slices.Sort(all)
	s.Answered = int64(n)
	for i, p := range percentiles {
		s.Latency[i] = all[int(math.Ceil(p*float64(n)))-1]
	}
	return s
}

// By hand: in a queue M/M/1 the time that a request stays is exponential with a mean of
// 1/(mu-lambda), so its p99 is ln(100)/(mu-lambda). At mu = 50,000 and lambda = 40,000 that is
// 0.4605 ms, and the p50 ln(2)/10,000 = 69.3 µs.
func TestTheCurveOfAQueueIsThatOfTheFormula(t *testing.T) {
	q := queue{rand.New(rand.NewPCG(1, 2)), 50_000}
	rps := []float64{10_000, 40_000, 60_000}
	var blocks [][]Slot
	for range 9 {
		var slots []Slot
		for _, a := range Turns(q.r, 1, rps, 2) {
			slots = append(slots, q.slot(a))
		}
		blocks = append(blocks, slots)
	}
	points := Points([]string{"queue"}, rps, blocks, 0.05)
	for i, lambda := range rps[:2] {
		for n, p := range []float64{0.5, 0.9, 0.99, 0.999} {
			l := *points[i].Percentiles()[n]
			want := math.Log(1/(1-p)) / (q.mu - lambda)
			if l == nil || l.Low > want || l.High < want || math.Abs(l.Seconds-want) > 0.1*want {
				t.Errorf("p%v at %v: %+v, want %v", 100*p, lambda, l, want)
			}
		}
	}
	if p := points[2]; p.P50 != nil || !strings.Contains(p.Refused, "9 of 9 blocks: it answered 50000 of 60000 requests a second") {
		t.Errorf("%+v", p)
	}
}

func TestWhatASlotMaySay(t *testing.T) {
	good := Slot{Ask: Ask{0, 1000, 1}, Answered: 1000, Latency: [4]float64{1e-4, 2e-4, 3e-4, 4e-4}, SendLag: 1e-4}
	for _, c := range []struct {
		change func(*Slot)
		want   string
	}{
		{func(*Slot) {}, ""},
		{func(s *Slot) { s.SendLag = 1.1e-3; s.Latency[p99] = 0.1 }, "the client itself sent a hundredth of its requests more than 1.1 ms"},
		{func(s *Slot) { s.SendLag = 2e-4 }, "more than 0.2 ms late"},
		{func(s *Slot) { s.Answered = 976 }, ""},
		{func(s *Slot) { s.Answered = 970 }, "it answered 970 of 1000 requests a second"},
		{func(s *Slot) { s.Fault = "status 500" }, "status 500"},
	} {
		s := good
		c.change(&s)
		if got := s.Refused(); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%+v: %q, want %q", s, got, c.want)
		}
	}
}

func TestRatesAreListsAndSpans(t *testing.T) {
	for text, want := range map[string][]float64{
		"10%..90%": {100, 200, 300, 400, 500, 600, 700, 800, 900}, "10%..90%/40%": {100, 500, 900},
		"5000,1000,1000": {1000, 5000}, "1000..3000/1000,50%": {500, 1000, 2000, 3000},
	} {
		rates, err := ParseRates(text)
		var got []float64
		for _, r := range rates {
			got = append(got, r.RPS(1000))
		}
		slices.Sort(got)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"": `"": write`, "10%..": `"10%..": write`, "1000..2000": `"1000..2000": write`, "9..1/1": "write", "0": `"0": write`,
		"300%": `"300%": write`, "1..100/1": "write up to 32", "NaN": "write", "10%/5%": "write", "10%..90": "write", "1.2.3": "write",
		"1..30/1,40..60/1": "more than 32 rates", "1000, x": `" x": write`,
	} {
		if rates, err := ParseRates(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v", text, rates, err)
		}
	}
}
