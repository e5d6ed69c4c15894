package law

import (
	"slices"
	"strings"
	"testing"
)

// A hundred requests: 50 of 1 ms, 40 of 2 ms, 9 of 10 ms, and one of 100 ms. The mean is (50 + 80 + 90 + 100) / 100
// = 3.2 ms.
func hundred(more map[string]float64) (r Row) {
	for id, v := range more {
		r.Set(byID[id], Exactly(v))
	}
	for id, ms := range map[string]float64{"p50": 1, "p90": 2, "p99": 10} {
		q, _ := FigureOf(id)
		r.Set(q, Exactly(ms/1000))
	}
	r.Set(greatest, Exactly(0.1))
	r.Set(least, Exactly(0.001))
	r.Set(Requests, Exactly(100))
	return r
}

func TestWhatQuantilesLeaveForAMean(t *testing.T) {
	r := hundred(nil)
	// 0.4 × 1 + 0.09 × 2 + 0.01 × 10 = 0.68 ms, and 0.5 × 1 + 0.4 × 2 + 0.09 × 10 + 0.01 × 100 = 3.2 ms
	if least, most := means(r.Quantiles, r.Get(greatest)); !near(least.Value, 0.00068) || !near(most.Value, 0.0032) {
		t.Errorf("%v to %v", least, most)
	}
}

func broken(r Row) (ids []string, unless string) {
	r.Judge(func(of Result) {
		if !of.Holds {
			ids, unless = append(ids, of.Law), of.Unless
		}
	}, func(string) {})
	return ids, unless
}

func TestEachLawAtItsEdge(t *testing.T) {
	for name, c := range map[string]struct {
		more map[string]float64
		want string
	}{
		"the mean itself":        {map[string]float64{"mean": 0.0032}, ""},
		"a mean that is too low": {map[string]float64{"mean": 0.00066, "min": 0.0005}, "mean"},
		"one too high":           {map[string]float64{"mean": 0.0033}, "mean"},
		// sqrt((100 - 3.2) (3.2 - 1)) = 14.59 ms
		"a deviation that fits":      {map[string]float64{"mean": 0.0032, "stdev": 0.0145}, ""},
		"one that does not":          {map[string]float64{"mean": 0.0032, "stdev": 0.0150}, "spread"},
		"a max below p99":            {map[string]float64{"max": 0.009}, "order"},
		"a max that a class rounded": {map[string]float64{"max": 0.00995}, ""},
		// 10,000/s of at least 0.68 ms are 6.8 under way; a second's window allows a tenth more.
		"seven connections":        {map[string]float64{"rate": 10000, "connections": 7, "duration": 1, "depth": 1, "requests": 10000}, ""},
		"six":                      {map[string]float64{"rate": 10000, "connections": 6, "duration": 1, "depth": 1, "requests": 10000}, "in-flight"},
		"six, without a rate":      {map[string]float64{"connections": 6, "duration": 1, "depth": 1, "requests": 10000}, "in-flight"},
		"six, over a longer time":  {map[string]float64{"rate": 10000, "connections": 6, "duration": 100, "depth": 2, "requests": 1e6}, ""},
		"under way by siege":       {map[string]float64{"rate": 1000, "mean": 0.0032, "underway": 3.2, "requests": 1e5}, ""},
		"another number":           {map[string]float64{"rate": 1000, "mean": 0.0032, "underway": 4, "requests": 1e5}, "in-flight"},
		"a hundred in ten seconds": {map[string]float64{"rate": 10, "duration": 10}, ""},
		"in eight":                 {map[string]float64{"rate": 10, "duration": 8}, "total"},
		"all cores":                {map[string]float64{"busy": 2, "cores": 2}, ""},
		"more":                     {map[string]float64{"busy": 2.01, "cores": 2}, "cpu-sum"},
		"parts and the whole":      {map[string]float64{"good": 100, "bad": 0, "fails": 0}, ""},
		"more parts":               {map[string]float64{"good": 101, "bad": 0, "fails": 0}, "total"},
		"fewer parts":              {map[string]float64{"good": 90, "bad": 0, "fails": 9}, "total"},
		// 8 Gbit/s are 1 GB/s, of which 8,961 of 9,001 bytes are for the client.
		"what a line carries": {map[string]float64{"byterate": 0.9955e9, "line": 1e9}, ""},
		"what it does not":    {map[string]float64{"byterate": 0.9957e9, "line": 1e9}, "line-rate-share"},
		"bodies in the bytes": {map[string]float64{"rate": 1000, "body": 100, "byterate": 120e3}, ""},
		"fewer bytes":         {map[string]float64{"rate": 1000, "body": 100, "byterate": 98e3}, "bytes-per-response"},
		"a worker and all":    {map[string]float64{"connections": 64, "workers": 4, "worker_connections": 17}, "per-worker"},
	} {
		if ids, _ := broken(hundred(c.more)); strings.Join(ids, " ") != c.want {
			t.Errorf("%s: breaks %v, want %q", name, ids, c.want)
		}
	}
}

// What hangs on something that is not known says so.
func TestALawSaysWhenItMayErr(t *testing.T) {
	for want, change := range map[string]func(*Row){
		"": func(*Row) {},
		"the figures are means over several runs": func(r *Row) { r.Averaged = true },
		"wrk does": func(r *Row) { r.Added = "wrk does" },
		"pipelining is not given, and 10 on each connection would do":             func(r *Row) { r.has &^= 1 << Depth.place },
		"wrk may have made it, and adds latencies of requests that it never sent": func(r *Row) { r.Made = false },
		"the test may have taken less than 1.1 s":                                 func(r *Row) { r.has &^= 1 << Duration.place; r.Set(greatest, Exactly(10)) },
	} {
		r := Row{Made: true}
		for f, v := range map[Figure]float64{Rate: 1000, Average: 0.1, Connections: 10, Depth: 1, Duration: 100} {
			r.Set(f, Exactly(v))
		}
		change(&r)
		if ids, unless := broken(r); len(ids) != 1 || unless != want {
			t.Errorf("%v, unless %q, want %q", ids, unless, want)
		}
		if r.Early = true; want == "" {
			if ids, _ := broken(r); ids != nil {
				t.Errorf("latencies that begin before a request is sent break %v", ids)
			}
		}
	}
}

// A remark names what a row admits, and that breaks no law.
func TestARowAdmitsWhatItTellsLittleOf(t *testing.T) {
	for want, figures := range map[string]map[string]float64{
		"":                                       {"rate": 100, "mean": 0.1, "connections": 11, "requests": 1000, "bad": 9, "fails": 9},
		"every answer is an error":               {"requests": 1000, "bad": 1000},
		"38 % of the answers are errors":         {"erring": 0.375},
		"375 requests failed, for 1,000 answers": {"rate": 100, "duration": 10, "fails": 375},
		"1,000 requests failed, as many as the answers of 10 s":                                  {"rate": 100, "fails": 1000},
		"4,785 of 5,000 connections never opened":                                                {"connections": 5000, "unopened": 4785},
		"about 10 of 800 connections had a request under way: the concurrency was never reached": {"rate": 100, "mean": 0.1, "connections": 800},
	} {
		r, said := Row{}, []string{}
		for id, v := range figures {
			r.Set(byID[id], Exactly(v))
		}
		if r.Judge(func(Result) {}, func(text string) { said = append(said, text) }); !slices.Equal(said, slices.DeleteFunc([]string{want}, func(s string) bool { return s == "" })) {
			t.Errorf("%q, want %q", said, want)
		}
		if ids, _ := broken(r); ids != nil {
			t.Errorf("%v breaks %v", figures, ids)
		}
	}
}
