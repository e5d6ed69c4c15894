package curve

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/compare"
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

// find carries out a search.
func find(s *Search, slot func(Ask) Slot) (h compare.Highest, blocks int) {
	for asks := s.Asks(); len(asks) > 0; asks = s.Asks() {
		var slots []Slot
		for _, a := range asks {
			slots = append(slots, slot(a))
		}
		s.Saw(slots)
		blocks++
	}
	return s.Result("queue"), blocks
}

// By hand: a p99 of 2 ms is kept up to mu - ln(100)/2 ms = 10,000 - 2,303 = 7,697 a second. The p99
// of one slot of so full a queue varies, so the two rates may be a few steps apart, and the
// truth lies between them, or within a step of one.
func TestTheHighestRateOfAQueueIsThatOfTheFormula(t *testing.T) {
	const mu, target = 10_000.0, 2e-3
	truth := mu - math.Log(100)/target
	far := 0
	for seed := range uint64(6) {
		q := queue{rand.New(rand.NewPCG(seed, 3)), mu}
		h, blocks := find(NewSearch(0, target, 9_000, 0.05), q.slot)
		if h.Kept.RateRPS == 0 || h.NotKept.RateRPS == 0 || blocks > MostBlocks || h.ClientRPS != 0 {
			t.Errorf("%d: %+v after %d blocks", seed, h, blocks)
		}
		if h.Kept.RateRPS > truth*step || h.NotKept.RateRPS < truth/step || h.NotKept.RateRPS > h.Kept.RateRPS*1.6 {
			far++
			t.Logf("%d: %s; in truth %.0f", seed, h.Says, truth)
		}
	}
	if far > 0 {
		t.Errorf("%d of 6 are wrong", far)
	}
}

// A server that keeps it up to 30,000 a second: neighbours are found, and confirmed, though one in
// twenty slots says the contrary of the truth, and a wrong answer is rarer than one in twenty.
func TestSlotsThatErrDoNotMisleadTheSearch(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	wrong, wide := 0, 0
	for range 200 {
		h, _ := find(NewSearch(0, 1e-3, 45_000*math.Exp(r.NormFloat64()/4), 0.05), func(a Ask) Slot {
			s := Slot{Ask: a, Answered: int64(a.RPS * a.Seconds), Latency: [4]float64{1e-4, 1e-4, 5e-4, 1}}
			if (a.RPS > 30_000) != (r.Float64() < 0.05) {
				s.Latency[p99] = 2e-3
			}
			return s
		})
		if h.Kept.RateRPS > 30_000 || h.NotKept.RateRPS > 0 && h.NotKept.RateRPS <= 30_000 {
			wrong++
		}
		if h.Kept.RateRPS == 0 || h.NotKept.RateRPS == 0 || h.NotKept.RateRPS > h.Kept.RateRPS*1.11 {
			wide++
		}
	}
	if wrong > 10 || wide > 20 {
		t.Errorf("of 200 %d are wrong and %d find no neighbours", wrong, wide)
	}
}

// A client that is late above 20,000 a second ends the search there, and says so; what the server
// could do above that is not said.
func TestAClientThatIsTheWallIsNamed(t *testing.T) {
	h, _ := find(NewSearch(0, 5e-3, 45_000, 0.05), func(a Ask) Slot {
		s := Slot{Ask: a, Answered: int64(a.RPS * a.Seconds), Latency: [4]float64{1e-4, 1e-4, 3e-4, 1}, SendLag: 1e-5}
		if a.RPS > 20_000 {
			s.SendLag, s.Latency[p99] = 8e-3, 9e-3
		}
		return s
	})
	if h.NotKept.RateRPS != 0 || h.Kept.RateRPS < 19_000 || h.Kept.RateRPS > 20_000 || h.ClientRPS <= 20_000 ||
		!strings.Contains(h.Says, "the client was the wall above 19,") {
		t.Errorf("%+v", h)
	}
}

func TestARateThatIsNeverKeptOrAlwaysIsSaid(t *testing.T) {
	always := func(v float64) func(Ask) Slot {
		return func(a Ask) Slot {
			return Slot{Ask: a, Answered: int64(a.RPS * a.Seconds), Latency: [4]float64{v, v, v, v}}
		}
	}
	h, _ := find(NewSearch(0, 1e-3, 50_000, 0.05), always(2e-3))
	if h.Kept.RateRPS != 0 || h.NotKept.RateRPS == 0 || !strings.Contains(h.Says, "at no rate was it shown") {
		t.Errorf("%+v", h)
	}
	// Of so slow a server no slot would have enough requests much further down.
	find(NewSearch(0, 1e-3, 150, 0.05), func(a Ask) Slot {
		if a.RPS*a.Seconds < 100 {
			t.Errorf("a p99 of %+v", a)
		}
		return always(2e-3)(a)
	})
	h, _ = find(NewSearch(0, 1e-3, 50_000, 0.05), always(1e-4))
	if h.Kept.RateRPS < 150_000 || h.NotKept.RateRPS != 0 || !strings.Contains(h.Says, "from where on it is not was not shown") {
		t.Errorf("%+v", h)
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

// Where a server does not stop at one rate, but at more and more moments as the rate rises, there is
// a span of rates that are too close to call. A search crosses it, and what it showed below it holds.
func TestASpanThatIsTooCloseToCallIsCrossed(t *testing.T) {
	const width = 0.4 // of the logarithm of the rate
	r := rand.New(rand.NewPCG(7, 8))
	wrong, nothing := 0, 0
	for range 100 {
		h, _ := find(NewSearch(0, 1e-3, 100_000*math.Exp(r.NormFloat64()/4), 0.025), func(a Ask) Slot {
			s := Slot{Ask: a, Answered: int64(a.RPS * a.Seconds), Latency: [4]float64{1e-4, 1e-4, 5e-4, 1}}
			if r.Float64() < 1/(1+math.Exp(-math.Log(a.RPS/30_000)/width)) {
				s.Latency[p99] = 2e-3
			}
			return s
		})
		if h.Kept.RateRPS > 30_000 || h.NotKept.RateRPS > 0 && h.NotKept.RateRPS < 30_000 {
			wrong++
		}
		if h.Kept.RateRPS == 0 {
			nothing++
		}
	}
	if wrong > 5 || nothing > 10 {
		t.Errorf("of 100 %d are wrong and %d show no rate that is kept", wrong, nothing)
	}
}
