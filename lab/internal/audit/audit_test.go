package audit

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// near compares with a tolerance for the inexactness of decimal fractions.
func near(a, b float64) bool {
	return math.Abs(a-b) <= 1e-9*math.Max(1, math.Max(math.Abs(a), math.Abs(b)))
}

func same(q Quantity, v, low, high float64) bool {
	return near(q.Value, v) && near(q.Low, low) && near(q.High, high)
}

// Each limit is half a unit of the last digit, worked out by hand.
func TestPrintedFigures(t *testing.T) {
	for printed, want := range map[string]struct {
		v, low, high float64
		unit         metric.Unit
	}{
		"1.32M":       {1_320_000, 1_315_000, 1_325_000, ""},
		"807k":        {807_000, 806_500, 807_500, ""},
		"1,322,291":   {1_322_291, 1_322_290.5, 1_322_291.5, ""},
		"21,400":      {21_400, 21_350, 21_450, ""}, // zeros at the end may be rounding
		"800k":        {800_000, 750_000, 850_000, ""},
		"2.00 GB/s":   {2e9, 1.995e9, 2.005e9, metric.BytesPerSecond}, // zeros after a point are digits
		"98%":         {0.98, 0.975, 0.985, metric.Ratio},
		"100%":        {1, 0.995, 1.005, metric.Ratio}, // and so are zeros of a percentage
		"+117%":       {1.17, 1.165, 1.175, metric.Ratio},
		"-2%":         {-0.02, -0.025, -0.015, metric.Ratio},
		"−2%":         {-0.02, -0.025, -0.015, metric.Ratio},
		"0%":          {0, -0.005, 0.005, metric.Ratio},
		"~34µs":       {34e-6, 33e-6, 35e-6, metric.Second}, // a whole unit
		"34µs":        {34e-6, 33.5e-6, 34.5e-6, metric.Second},
		"~1,900":      {1900, 1800, 2000, ""},
		"<1ms":        {1e-3, 0, 1e-3, metric.Second},
		"3.8×":        {3.8, 3.75, 3.85, metric.Ratio},
		"50 Gbps":     {50e9, 45e9, 55e9, metric.BitsPerSecond},
		"4.5KB":       {4500, 4450, 4550, metric.Bytes},
		"52.2 MB/s":   {52.2e6, 52.15e6, 52.25e6, metric.BytesPerSecond},
		"1.50 min":    {90, 89.7, 90.3, metric.Second},
		"201,777 RPS": {201_777, 201_776.5, 201_777.5, metric.PerSecond},
		"83,663/min":  {1394.38333333333, 1394.375, 1394.39166666667, metric.PerSecond},
		"0":           {0, -0.5, 0.5, ""},
	} {
		got, err := parse(printed, manner{})
		if err != nil || !same(got.Quantity, want.v, want.low, want.high) || got.Unit != want.unit {
			t.Errorf("%q: %+v, %v; want %+v", printed, got, err, want)
		}
	}
}

func TestMannersOfPrinting(t *testing.T) {
	for _, c := range []struct {
		printed      string
		m            manner
		v, low, high float64
	}{
		{"1ms", manner{cut: true}, 1e-3, 1e-3, 2e-3},
		{"20ms", manner{cut: true}, 20e-3, 20e-3, 21e-3},
		{"500", manner{exact: true}, 500, 500, 500},
		{"2.62 MB", manner{binary: true}, 2.62 * 1048576, 2.615 * 1048576, 2.625 * 1048576},
		{"1M", manner{binary: true}, 1048576, 524288, 1572864},
	} {
		got, err := parse(c.printed, c.m)
		if err != nil || !same(got.Quantity, c.v, c.low, c.high) {
			t.Errorf("%q, %+v: %+v, %v", c.printed, c.m, got, err)
		}
	}
	for _, c := range []struct {
		printed string
		m       manner
	}{{"~5", manner{exact: true}}, {"<1ms", manner{cut: true}}, {"5", manner{cut: true, exact: true}}, {"-5%", manner{cut: true}}, {"<-5%", manner{}}} {
		if got, err := parse(c.printed, c.m); err == nil {
			t.Errorf("%q, %+v: taken as %+v", c.printed, c.m, got)
		}
	}
}

func TestWhatIsNoFigure(t *testing.T) {
	for _, printed := range []string{"", "~", "many", "1,32", "1.2.3", "1 2", "5 parsecs", "1e6", "0x10", "NaN", "12,3456", "5 %%", ".5", "5.", "٣"} {
		if got, err := parse(printed, manner{}); err == nil {
			t.Errorf("%q: taken as %+v", printed, got)
		}
	}
}

func FuzzPrinted(f *testing.F) {
	for _, s := range []string{"1.32M", "~34µs", "<1ms", "+117%", "1,322,291", "6.25 GB/s", "−2%"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := parse(s, manner{})
		if err != nil {
			return
		}
		if !got.finite() || got.Low > got.Value || got.Value > got.High {
			t.Errorf("%q: %+v", s, got)
		}
	})
}

// names gives the figures of the formulas below.
func names(name string) (Quantity, error) {
	switch name {
	case "a":
		return Quantity{10, 9, 11}, nil
	case "b":
		return Quantity{4, 3, 5}, nil
	case "t.c1.zero":
		return Quantity{0, -1, 1}, nil
	}
	return Quantity{}, fmt.Errorf("no figure %q", name)
}

// Every limit is worked out by hand from a = 9 to 11 and b = 3 to 5.
func TestFormulas(t *testing.T) {
	for formula, want := range map[string]Quantity{
		"1 + 2 * 3":            Exactly(7),
		"(1 + 2) * 3":          Exactly(9),
		"8 / 4 / 2":            Exactly(1),
		"8 - 4 - 2":            Exactly(2),
		"-2 * -3":              Exactly(6),
		"a + b":                {14, 12, 16},
		"a - b":                {6, 4, 8},
		"a * b":                {40, 27, 55},
		"a / b":                {2.5, 1.8, 11.0 / 3},
		"-a":                   {-10, -11, -9},
		"a * -b":               {-40, -55, -27},
		"min(a, b, 4)":         {4, 3, 4},
		"max(a, b)":            {10, 9, 11},
		"floor(a / 2)":         {5, 4, 5},
		" a/b - 1 ":            {1.5, 0.8, 8.0 / 3},
		"max(floor(1/2), 1)*7": Exactly(7),
	} {
		got, err := evaluate(formula, names)
		if err != nil || !same(got, want.Value, want.Low, want.High) {
			t.Errorf("%s: %+v, %v; want %+v", formula, got, err, want)
		}
	}
}

func TestFormulasThatMeanNothing(t *testing.T) {
	for formula, says := range map[string]string{
		"":            "character 1: the formula ends",
		"1 +":         "character 4: the formula ends",
		"1 2":         "character 3: nothing can follow",
		"(1":          "closing parenthesis",
		"1)":          "nothing can follow",
		"--1":         "second minus",
		"1 / 0":       "divides by a figure that may be zero",
		"1 / (b - b)": "divides by a figure that may be zero",
		"a/t.c1.zero": "divides by a figure that may be zero",
		"c + 1":       `character 1: no figure "c"`,
		"min(1)":      "min wants two figures",
		"floor(1, 2)": "closing parenthesis",
		"min 1":       `no figure "min"`,
		"1.2.3":       "is no number",
		"a ^ 2":       "nothing can follow",
		"Σ":           "a figure is wanted",
		"9999999999999999999999999999999999999999999999999999999999 * a * 1": "",
	} {
		_, err := evaluate(formula, names)
		if says == "" {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", formula, err, says)
		}
	}
	if _, err := evaluate(strings.Repeat("(", 1e6), names); err == nil || !strings.Contains(err.Error(), "nested too deep") {
		t.Errorf("a million parentheses: %.80v", err)
	}
	if _, err := evaluate(strings.Repeat("9", 400), names); err == nil {
		t.Error("a number past all floats is taken")
	}
}

func FuzzFormula(f *testing.F) {
	for _, s := range []string{"a + b", "min(a, b) * 2", "-(a/b) - 1", "floor(a)", "((1))"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		q, err := evaluate(s, names)
		if err == nil && (!q.finite() || q.Low > q.High) {
			t.Errorf("%q: %+v", s, q)
		}
	})
}

func TestRelations(t *testing.T) {
	for _, c := range []struct {
		of     Quantity
		rel    Relation
		to     Quantity
		within float64
		want   bool
	}{
		{Around(2, 0.5), Equals, Exactly(2.5), 0, true}, // touching ranges agree
		{Around(2, 0.5), Equals, Exactly(2.6), 0, false},
		{Around(2, 0.5), Equals, Around(3, 0.6), 0, true},
		{Exactly(100), Equals, Exactly(101), 0.02, true},
		{Exactly(100), Equals, Exactly(103), 0.02, false},
		{Exactly(-100), Equals, Exactly(-101), 0.02, true},
		{Exactly(5), AtMost, Around(4, 1), 0, true}, // some values satisfy it
		{Exactly(5.1), AtMost, Around(4, 1), 0, false},
		{Exactly(5), AtLeast, Around(6, 1), 0, true},
		{Exactly(4.9), AtLeast, Around(6, 1), 0, false},
	} {
		if got := c.rel.holds(c.of, c.to, c.within); got != c.want {
			t.Errorf("%+v %s %+v within %v: %v", c.of, c.rel, c.to, c.within, got)
		}
	}
}

// A text with one figure and one check, to which each case adds.
const small = `entry = "99"
[[figures]]
id = "rate"
place = "a sentence"
printed = "1.5k"
unit = "1/s"
[[figures]]
id = "idle"
place = "a table"
printed = "0.00%"
[[checks]]
id = "half"
kind = "product"
of = "rate"
equals = "3000 / 2"
`

func TestTextsThatAreRefused(t *testing.T) {
	for text, says := range map[string]string{
		"entry = ":                                "line 1",
		small + "x=1":                             `unknown key "checks.x"`,
		small + "note = \"n\"\nNote = \"m\"":      `unknown key "checks[0].Note"`,
		strings.Replace(small, `"99"`, `"98"`, 1): "called by the entry's number",
		small + "[[figures]]\nid = \"rate\"\nplace = \"p\"\nprinted = \"1\"":                                      `id "rate" stands twice`,
		small + "[[figures]]\nid = \"max\"\nplace = \"p\"\nprinted = \"1\"":                                       "is a function",
		small + "[[figures]]\nid = \"floor\"\nplace = \"p\"\nprinted = \"1\"":                                     "is a function",
		small + "[[figures]]\nid = \"A-b\"\nplace = \"p\"\nprinted = \"1\"":                                       "must be lower-case",
		small + "[[figures]]\nid = \"c\"\nprinted = \"1\"":                                                        "place is missing",
		small + "[[figures]]\nid = \"c\"\nplace = \"p\"\nprinted = \"lots\"":                                      "no printed figure",
		small + "[[figures]]\nid = \"c\"\nplace = \"p\"\nprinted = \"1ms\"\nunit = \"B\"":                         `unit "B", but "1ms" is in "s"`,
		small + "[[figures]]\nid = \"c\"\nplace = \"p\"\nprinted = \"1\"\nunit = \"furlong\"":                     "use one of",
		small + "[[tables]]\nid = \"t\"\nplace = \"p\"":                                                           "needs place, experiment and run",
		small + "[[checks]]\nid = \"c\"\nkind = \"guess\"\nof = \"rate\"\nequals = \"1\"":                         `unknown kind "guess"`,
		small + "[[checks]]\nid = \"c\"\nkind = \"delta\"\nof = \"rate\"":                                         "one of equals",
		small + "[[checks]]\nid = \"c\"\nkind = \"delta\"\nof = \"rate\"\nequals = \"1\"\nat_most = \"2\"":        "one of equals",
		small + "[[checks]]\nid = \"c\"\nkind = \"delta\"\nof = \"rate\"\nequals = \"1\"\nwithin = 0.1":           "note must say why",
		small + "[[checks]]\nid = \"c\"\nkind = \"delta\"\nof = \"rate\"\nequals = \"1\"\nwithin = nan":           "within must be a share",
		small + "[[claims]]\nid = \"c\"\nplace = \"p\"\nsays = \"s\"":                                             "nothing would decide it",
		small + "[[claims]]\nid = \"c\"\nplace = \"p\"\nsays = \"s\"\nneeds = [\"luck\"]":                         `unknown need "luck"`,
		small + "[[claims]]\nid = \"c\"\nplace = \"p\"\nsays = \"s\"\nchecks = [\"none\"]":                        `no check "none"`,
		small + "[[claims]]\nid = \"c\"\nplace = \"p\"\nsays = \"s\"\nmetric = \"speed\"\nneeds = [\"repeats\"]":  `unknown metric "speed"`,
		small + "[[claims]]\nid = \"c\"\nplace = \"p\"\nsays = \"s\"\nclient_busy = \"1\"\nneeds = [\"repeats\"]": "without a metric",
	} {
		if _, err := Parse("99", []byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("…%s: %v, want %q", text[max(0, len(text)-60):], err, says)
		}
	}
}

func TestAStudyIsCalledByItsWord(t *testing.T) {
	text := strings.Replace(small, `"99"`, `"batch"`, 1)
	if _, err := Parse("batch", []byte(text)); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"99", "ba", "Batch", "batch-2", ""} {
		if _, err := Parse(name, []byte(strings.Replace(small, `"99"`, `"`+name+`"`, 1))); (err == nil) != (name == "99") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// Errors that show only when formulas are evaluated.
func TestTextsThatLeanOnNothing(t *testing.T) {
	for more, says := range map[string]string{
		"[[checks]]\nid = \"c\"\nkind = \"delta\"\nof = \"rat\"\nequals = \"1\"":                                                                                  `checks "c": of: "rat", character 1: no figure "rat" in data/texts/99.toml`,
		"[[checks]]\nid = \"c\"\nkind = \"delta\"\nof = \"rate\"\nequals = \"e98.x\"":                                                                             `there is no data/texts/98.toml`,
		"[[checks]]\nid = \"c\"\nkind = \"delta\"\nof = \"rate\"\nequals = \"t.c1.x\"":                                                                            `no table "t"`,
		"[[checks]]\nid = \"c\"\nkind = \"delta\"\nof = \"rate * 2\"\nequals = \"1\"":                                                                             "place: missing",
		"[[checks]]\nid = \"c\"\nkind = \"delta\"\nplace = \"p\"\nof = \"rate * 2\"\nequals = \"1\"":                                                              "unit: missing",
		"[[claims]]\nid = \"c\"\nplace = \"p\"\nsays = \"s\"\nmetric = \"throughput_rps\"\nneeds = [\"repeats\"]\nclient_busy = \"busy\"":                         `claims "c": client_busy:`,
		"[[tables]]\nid = \"t\"\nplace = \"p\"\nexperiment = \"x\"\nrun = \"r\"\n[[checks]]\nid = \"c\"\nkind = \"delta\"\nof = \"t.c1.workers\"\nequals = \"1\"": "there is no data/results/x/r.json",
	} {
		text, err := Parse("99", []byte(small+more))
		if err != nil {
			t.Fatalf("%s: %v", more, err)
		}
		_, err = Of([]*Text{text}, nil)
		fault := (*Fault)(nil)
		if !errors.As(err, &fault) || fault.Text != "99" || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", more, err, says)
		}
	}
}

func TestVerdictsOfClaims(t *testing.T) {
	const about = "[[claims]]\nid = \"c\"\nplace = \"p\"\nsays = \"s\"\nmetric = \"throughput_rps\"\n"
	for more, want := range map[string]string{
		"needs = [\"repeats\"]\nruns = 1":                                          "inconclusive  one run of each has no interval",
		"needs = [\"repeats\"]\nruns = 5":                                          "inconclusive  5 runs of each has no interval",
		"needs = [\"repeats\"]\nruns = 6":                                          "inconclusive agrees its own figures bear it out",
		"needs = [\"client-cpu\", \"server-cpu\"]":                                 "inconclusive  the client's CPU was not recorded; the server's CPU was not recorded",
		"needs = [\"comparison\"]":                                                 "inconclusive  the run it would be compared with was not made",
		"needs = [\"comparison\"]\ncomparison = true":                              "inconclusive agrees its own figures bear it out",
		"needs = [\"repeats\"]\nclient_busy = \"1 - idle\"":                        "invalid  measures the client: its cores were 100 % busy",
		"needs = [\"client-cpu\"]\nclient_busy = \"0.5 - idle\"":                   "inconclusive agrees its own figures bear it out",
		"checks = [\"half\"]":                                                      "inconclusive agrees its own figures bear it out",
		"checks = [\"half\", \"off\"]\nneeds = [\"repeats\"]\nclient_busy = \"1\"": "refuted  the text's own figures contradict it: a sentence",
	} {
		text, err := Parse("99", []byte(small+"[[checks]]\nid = \"off\"\nkind = \"delta\"\nof = \"rate\"\nequals = \"1\"\n"+about+more))
		if err != nil {
			t.Fatalf("%s: %v", more, err)
		}
		files, err := Of([]*Text{text}, nil)
		if err != nil {
			t.Fatalf("%s: %v", more, err)
		}
		c := files[0].Claims[0]
		if got := fmt.Sprintf("%s %s %s", c.Verdict, c.SingleRun, c.Reason); got != want {
			t.Errorf("%s: %q, want %q", more, got, want)
		}
	}
	// CPU time per request is valid whatever the wall was.
	text, err := Parse("99", []byte(small+strings.Replace(about, "throughput_rps", "server_cpu_per_request_s", 1)+"needs = [\"client-cpu\"]\nclient_busy = \"1\""))
	if err != nil {
		t.Fatal(err)
	}
	if files, err := Of([]*Text{text}, nil); err != nil || files[0].Claims[0].SingleRun != Agrees {
		t.Errorf("%+v, %v", files[0].Claims, err)
	}
}

// published makes a run with one trial over a wire of 80 bit/s, or 10 B/s.
func published(levels setting.Levels, printed map[string]string) *results.File {
	t := results.Trial{Seq: 1, Block: 1, Condition: "c1", Valid: true, Metrics: map[string]float64{}, Below: map[string]float64{}, Printed: printed}
	for name, p := range printed {
		q, err := parse(p, manner{})
		if err != nil {
			panic(err)
		}
		if strings.HasPrefix(p, "<") {
			t.Below[name] = q.Value
		} else {
			t.Metrics[name] = q.Value
		}
	}
	return &results.File{
		Experiment: "99-x", Run: "published", Source: results.Published, Text: &results.Text{Entry: "99"},
		Topology: results.Topology{Kind: "fleet", LineRateBps: 8e9}, Conditions: []results.Condition{{ID: "c1", Levels: levels}}, Trials: []results.Trial{t},
	}
}

func TestEveryPublishedTrialIsChecked(t *testing.T) {
	simple := setting.Levels{setting.Route: setting.String("/simple"), setting.Connections: setting.Int(100), setting.Pipelining: setting.Int(1), setting.Workers: setting.Int(4)}
	for _, c := range []struct {
		name    string
		printed map[string]string
		kind    Kind
		want    string // empty: the check cannot be made
	}{
		{"124 B an answer", map[string]string{"transfer_bytes_per_s": "124 MB/s", "throughput_rps": "1.00M"}, ResponseSize, Agrees},
		{"16 B an answer: no room for a head", map[string]string{"transfer_bytes_per_s": "16.0 MB/s", "throughput_rps": "1.00M"}, ResponseSize, Disagrees},
		{"no throughput", map[string]string{"transfer_bytes_per_s": "16.0 MB/s"}, ResponseSize, ""},
		{"a tenth of 1 GB/s", map[string]string{"transfer_bytes_per_s": "100.0 MB/s", "line_rate_share": "10%"}, LineRate, Agrees},
		{"a tenth, printed a fifth", map[string]string{"transfer_bytes_per_s": "100.0 MB/s", "line_rate_share": "20%"}, LineRate, Disagrees},
		{"0.995 GB/s and heads", map[string]string{"transfer_bytes_per_s": "0.995 GB/s"}, LineRate, Agrees},
		{"1 GB/s and heads", map[string]string{"transfer_bytes_per_s": "1.000 GB/s"}, LineRate, Disagrees},
		// 100 connections hold 10,000/s at 10 ms, and half of those at 20 ms.
		{"a median that fits", map[string]string{"throughput_rps": "10,001", "latency_p50_s": "19ms"}, InFlight, Agrees},
		{"a median that does not", map[string]string{"throughput_rps": "10,001", "latency_p50_s": "21ms"}, InFlight, Disagrees},
		// 0.49 × 15 ms + 0.01 × 300 ms = 10.35 ms
		{"a tail that does not", map[string]string{"throughput_rps": "10,001", "latency_p50_s": "15ms", "latency_p99_s": "300ms"}, InFlight, Disagrees},
		{"nothing known of the median", map[string]string{"throughput_rps": "10,001", "latency_p50_s": "<1ms"}, InFlight, ""},
		{"five processes of four workers", map[string]string{"processes": "5"}, Counts, Agrees},
		{"four processes of four workers", map[string]string{"processes": "4"}, Counts, Disagrees},
		{"25 connections a worker", map[string]string{"connections_per_worker": "25"}, PerWorker, Agrees},
		{"26 connections a worker", map[string]string{"connections_per_worker": "26"}, PerWorker, Disagrees},
		{"a quarter each", map[string]string{"throughput_rps": "8,004", "throughput_per_worker_rps": "2,001"}, PerWorker, Agrees},
		{"a median over the tail", map[string]string{"latency_p50_s": "5ms", "latency_p99_s": "3ms"}, Reading, Disagrees},
	} {
		t.Run(c.name, func(t *testing.T) {
			files, err := Of(nil, []*results.File{published(simple, c.printed)})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, f := range files[0].Findings {
				if f.Kind == c.kind && (got == "" || f.Verdict == Disagrees) {
					got = f.Verdict
				}
			}
			if got != c.want {
				t.Errorf("%q, want %q: %+v", got, c.want, files[0].Findings)
			}
		})
	}
}

func TestAPublishedFigureIsThePrintedOne(t *testing.T) {
	r := published(setting.Levels{}, map[string]string{"throughput_rps": "1,001"})
	r.Trials[0].Metrics["throughput_rps"] = 1010
	_, err := Of(nil, []*results.File{r})
	fault := (*Fault)(nil)
	if !errors.As(err, &fault) || fault.Run != r || !strings.Contains(err.Error(), `/trials/0/printed: throughput_rps is 1010, but printed as "1,001"`) {
		t.Errorf("%v", err)
	}
}

func TestKindsAreDescribed(t *testing.T) {
	for k, doc := range Kinds {
		if !strings.HasSuffix(doc, ".") {
			t.Errorf("%s: %q", k, doc)
		}
	}
}

var update = flag.Bool("update", false, "write the golden list of findings")

// All findings about the journal's texts, and the verdicts on all their claims.
// A new line here is a new finding.
func TestFindingsOfTheJournal(t *testing.T) {
	texts, faults, err := LoadDir("../../../data/texts")
	if err != nil || len(faults) > 0 {
		t.Fatal(err, faults)
	}
	var runs []*results.File
	for _, p := range glob(t, "../../../data/results/*/published-*.json") {
		r, err := results.Read(p)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, r)
	}
	files, err := Of(texts, runs)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range files {
		agree := 0
		for _, x := range f.Findings {
			if x.Verdict == Agrees {
				agree++
				continue
			}
			printed := x.Printed
			if printed == "" {
				printed = fmt.Sprintf("%.5g", x.Stands.Value)
			}
			fmt.Fprintf(&b, "%s %s: %s, %s %.5g\n", f.Entry, x.Place, printed, x.Relation, x.Recomputed.Value)
		}
		fmt.Fprintf(&b, "%s %d agree\n", f.Entry, agree)
		for _, c := range f.Claims {
			fmt.Fprintf(&b, "%s claim %s: %s %s\n", f.Entry, c.ID, c.Verdict, c.SingleRun)
		}
	}
	const golden = "testdata/findings.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("findings are\n%s\nand were\n%s\nif that is meant: go test ./internal/audit -update", b.String(), want)
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatal("no file is ", pattern, err)
	}
	return paths
}
