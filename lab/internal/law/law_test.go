package law

import (
	"math"
	"testing"
)

// A hundred requests: 50 of 1 ms, 40 of 2 ms, 9 of 10 ms, and one of 100 ms. The mean is (50 + 80 + 90 + 100) / 100
// = 3.2 ms.
func hundred() (r Row) {
	for share, ms := range map[float64]float64{0.5: 1, 0.9: 2, 0.99: 10} {
		r.SetQuantile(share, Exactly(ms/1000))
	}
	r.Set(Greatest, Exactly(0.1))
	r.Set(Least, Exactly(0.001))
	r.Set(Requests, Exactly(100))
	return r
}

func TestWhatQuantilesLeaveForAMean(t *testing.T) {
	r := hundred()
	// 0.4 × 1 + 0.09 × 2 + 0.01 × 10 = 0.68 ms, and 0.5 × 1 + 0.4 × 2 + 0.09 × 10 + 0.01 × 100 = 3.2 ms
	if least, most := LeastMean(r.Quantiles).Value, MostMean(r.Quantiles, r.figures[Greatest]).Value; math.Abs(least-0.00068) > 1e-12 ||
		math.Abs(most-0.0032) > 1e-12 {
		t.Errorf("%v to %v", least, most)
	}
}

func broken(r Row) (ids []string, unless string) {
	r.Judge(func(of Result) {
		if !of.Holds {
			ids, unless = append(ids, of.Law.ID), of.Unless
		}
	})
	return ids, unless
}

func TestEachLawAtItsEdge(t *testing.T) {
	with := func(change func(*Row)) Row {
		r := hundred()
		change(&r)
		return r
	}
	set := func(figures map[Figure]float64) func(*Row) {
		return func(r *Row) {
			for f, v := range figures {
				r.figures[f], r.has[f] = Exactly(v), true
			}
		}
	}
	for name, c := range map[string]struct {
		row  Row
		want *Law
	}{
		"the mean itself":        {with(set(map[Figure]float64{Average: 0.0032})), nil},
		"a mean that is too low": {with(set(map[Figure]float64{Average: 0.00066, Least: 0.0005})), Mean},
		"one too high":           {with(set(map[Figure]float64{Average: 0.0033})), Mean},
		// sqrt((100 - 3.2) (3.2 - 1)) = 14.59 ms
		"a deviation that fits":      {with(set(map[Figure]float64{Average: 0.0032, Deviation: 0.0145})), nil},
		"one that does not":          {with(set(map[Figure]float64{Average: 0.0032, Deviation: 0.0150})), Spread},
		"a max below p99":            {with(set(map[Figure]float64{Greatest: 0.009})), Order},
		"a max that a class rounded": {with(set(map[Figure]float64{Greatest: 0.00995})), nil},
		// 10,000/s of at least 0.68 ms are 6.8 under way; a second's window allows a tenth more.
		"seven connections":        {with(set(map[Figure]float64{Rate: 10000, Connections: 7, Duration: 1, Depth: 1, Requests: 10000})), nil},
		"six":                      {with(set(map[Figure]float64{Rate: 10000, Connections: 6, Duration: 1, Depth: 1, Requests: 10000})), InFlight},
		"six, without a rate":      {with(set(map[Figure]float64{Connections: 6, Duration: 1, Depth: 1, Requests: 10000})), InFlight},
		"six, over a longer time":  {with(set(map[Figure]float64{Rate: 10000, Connections: 6, Duration: 100, Depth: 2, Requests: 1e6})), nil},
		"a hundred in ten seconds": {with(set(map[Figure]float64{Rate: 10, Duration: 10})), nil},
		"in eight":                 {with(set(map[Figure]float64{Rate: 10, Duration: 8})), Total},
		"all cores":                {with(set(map[Figure]float64{Busy: 2, Cores: 2})), nil},
		"more":                     {with(set(map[Figure]float64{Busy: 2.01, Cores: 2})), CPU},
		"parts and the whole":      {with(set(map[Figure]float64{Good: 100, Bad: 0, Fails: 0})), nil},
		"more parts":               {with(set(map[Figure]float64{Good: 101, Bad: 0, Fails: 0})), Total},
		"fewer parts":              {with(set(map[Figure]float64{Good: 90, Bad: 0, Fails: 9})), Total},
		"two errors":               {with(set(map[Figure]float64{Good: 98, Bad: 2})), Failures},
		// 8 Gbit/s are 1 GB/s, of which 8,961 of 9,001 bytes are for the client.
		"what a line carries": {with(set(map[Figure]float64{ByteRate: 0.9955e9, LineRate: 8e9})), nil},
		"what it does not":    {with(set(map[Figure]float64{ByteRate: 0.9957e9, LineRate: 8e9})), Line},
		"bodies in the bytes": {with(set(map[Figure]float64{Rate: 1000, Body: 100, ByteRate: 120e3})), nil},
		"fewer bytes":         {with(set(map[Figure]float64{Rate: 1000, Body: 100, ByteRate: 98e3})), Answer},
	} {
		ids, _ := broken(c.row)
		if c.want == nil && len(ids) > 0 || c.want != nil && (len(ids) != 1 || ids[0] != c.want.ID) {
			t.Errorf("%s: breaks %v, want %+v", name, ids, c.want)
		}
	}
}

// What hangs on something that is not known says so.
func TestALawSaysWhenItMayErr(t *testing.T) {
	row := func(change func(*Row)) Row {
		r := Row{}
		r.Set(Rate, Exactly(1000))
		r.Set(Average, Exactly(0.1))
		r.Set(Connections, Exactly(10))
		r.Set(Depth, Exactly(1))
		change(&r)
		return r
	}
	for want, change := range map[string]func(*Row){
		"": func(*Row) {},
		"the figures are means over several runs": func(r *Row) { r.Averaged = true },
		"wrk does": func(r *Row) { r.Added = "wrk does" },
		"pipelining is not given, and 10 on each connection would do": func(r *Row) { r.has[Depth] = false },
	} {
		if ids, unless := broken(row(change)); len(ids) != 1 || unless != want {
			t.Errorf("%v, unless %q, want %q", ids, unless, want)
		}
	}
	if ids, _ := broken(row(func(r *Row) { r.Early = true })); ids != nil {
		t.Errorf("latencies that begin before a request is sent break %v", ids)
	}
}

func TestMistakesOfUnitsAreNamed(t *testing.T) {
	for want, r := range map[string]Result{
		"MiB, printed as MB":                                    Total.Hold("", Exactly(100), Equals, "", Exactly(104.8576), 0.01, ""),
		"bits, taken for bytes":                                 Total.Hold("", Exactly(800), Equals, "", Exactly(100), 0.01, ""),
		"percent, taken for cores":                              CPU.Hold("", Exactly(150), AtMost, "", Exactly(2), 0, ""),
		"latencies a thousandth as long, as of µs taken for ms": Little(Exactly(1000), Exactly(50), Exactly(64), "", "", 0),
		"": Total.Hold("", Exactly(100), Equals, "", Exactly(130), 0.01, ""),
	} {
		if got := r.Mend(); got != want || r.Holds {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
