package law

import (
	"strconv"
	"strings"
	"testing"
)

// rowOf makes a row of figures and what they are: "rate 1000 mean 0.1".
func rowOf(spec string) (r Row) {
	words := strings.Fields(spec)
	for i := 0; i < len(words); i += 2 {
		f, ok := FigureOf(words[i])
		v, err := strconv.ParseFloat(words[i+1], 64)
		if !ok || err != nil {
			panic(spec)
		}
		r.Set(f, Exactly(v))
	}
	return r
}

// A hundred requests: 50 of 1 ms, 40 of 2 ms, 9 of 10 ms, and one of 100 ms. The mean is (50 + 80 + 90 + 100) / 100
// = 3.2 ms; the quantiles leave 0.4 × 1 + 0.09 × 2 + 0.01 × 10 = 0.68 ms to 3.2 ms for it.
const hundred = " p50 0.001 p90 0.002 p99 0.010 max 0.1 min 0.001 requests 100"

// broken are the laws that a row breaks, and what it remarks.
func broken(r Row) (laws, unless, remarks string) {
	r.Follow()
	admits := r.Judge(func(of Result) {
		if !of.Holds {
			laws, unless = laws+of.Law, of.Unless
		}
	})
	return laws, unless, strings.Join(admits, "")
}

func TestEachLawAtItsEdge(t *testing.T) {
	for spec, want := range map[string]string{
		"mean 0.0032":             "",
		"mean 0.00066 min 0.0005": "mean", // too low
		"mean 0.0033":             "mean", // too high
		// sqrt((100 - 3.2) (3.2 - 1)) = 14.59 ms
		"mean 0.0032 stdev 0.0145": "",
		"mean 0.0032 stdev 0.0150": "spread",
		"max 0.009":                "order", // below p99
		"max 0.00995":              "",      // as a class of a histogram rounds it
		// 10,000/s of at least 0.68 ms are 6.8 under way; a second's window allows a tenth more.
		"rate 10000 connections 7 duration 1 depth 1 requests 10000": "",
		"rate 10000 connections 6 duration 1 depth 1 requests 10000": "in-flight",
		"connections 6 duration 1 depth 1 requests 10000":            "in-flight",
		"rate 10000 connections 6 duration 100 depth 2 requests 1e6": "",
		"rate 1000 mean 0.0032 underway 3.2 requests 1e5":            "", // as siege has it
		"rate 1000 mean 0.0032 underway 4 requests 1e5":              "in-flight",
		"rate 10 duration 10":    "",
		"rate 10 duration 8":     "total",
		"busy 2 cores 2":         "",
		"busy 2.01 cores 2":      "cpu-sum",
		"good 100 bad 0 fails 0": "",
		"good 101 bad 0 fails 0": "total",
		"good 90 bad 0 fails 9":  "total",
		// 8 Gbit/s are 1 GB/s, of which 8,961 of 9,001 bytes are for the client.
		"byterate 0.9955e9 line 1e9":                     "",
		"byterate 0.9957e9 line 1e9":                     "line-rate-share",
		"rate 1000 body 100 byterate 120e3":              "",
		"rate 1000 body 100 byterate 98e3":               "bytes-per-response",
		"connections 64 workers 4 worker_connections 17": "per-worker",
	} {
		if laws, _, _ := broken(rowOf(spec + hundred)); laws != want {
			t.Errorf("%s: breaks %q, want %q", spec, laws, want)
		}
	}
}

// What hangs on something that is not known says so.
func TestALawSaysWhenItMayErr(t *testing.T) {
	const row = "rate 1000 mean 0.1 connections 10 "
	for _, c := range []struct {
		row  Row
		spec string
		want string
	}{
		{Row{}, row + "depth 1 duration 100", ""},
		{Row{}, row + "averaged 1 depth 1 duration 100", "the figures are means over several runs"},
		{Row{Added: "wrk does"}, row + "depth 1 duration 100", "wrk does"},
		{Row{}, row + "duration 100", "pipelining is not given, and 10 on each connection would do"},
		{Row{}, row + "depth 1 max 10", "the test may have taken less than 1.1 s"},
		{Row{Doubt: "it may be other"}, row + "depth 1 duration 100", "it may be other"},
	} {
		figures := rowOf(c.spec)
		c.row.Default(&figures)
		if laws, unless, _ := broken(c.row); laws != InFlight || unless != c.want {
			t.Errorf("%s: breaks %q, unless %q, want %q", c.spec, laws, unless, c.want)
		}
		if c.row.Set(byID["due"], Exactly(1)); c.want == "" {
			if laws, _, _ := broken(c.row); laws != "" {
				t.Errorf("latencies that begin before a request is sent break %s", laws)
			}
		}
	}
}

// A remark names what a row admits, and that breaks no law.
func TestARowAdmitsWhatItTellsLittleOf(t *testing.T) {
	for spec, want := range map[string]string{
		"rate 100 mean 0.1 connections 11 requests 1000 bad 9 fails 9": "",
		"requests 1000 bad 1000":         "every answer is an error",
		"erring 0.375":                   "38 % of the answers are errors",
		"rate 100 duration 10 fails 375": "375 requests failed, for 1,000 answers",
		"rate 100 fails 1000":            "1,000 requests failed, as many as the answers of 10 s",
		"connections 5000 unopened 4785": "4,785 of 5,000 connections never opened",
		"rate 100 mean 0.1 connections 800": "about 10 of 800 connections had a request under way: " +
			"the concurrency was never reached",
	} {
		if laws, _, remarks := broken(rowOf(spec)); laws != "" || remarks != want {
			t.Errorf("%s: %q, want %q; breaks %q", spec, remarks, want, laws)
		}
	}
}
