package audit

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

var update = flag.Bool("update", false, "write the golden list of findings")

// All findings about the texts of the first twelve entries. A new line here is a new finding.
func TestFindingsOfTheFirstTexts(t *testing.T) {
	paths, _ := filepath.Glob("../../../../data/texts/*")
	var texts []*File
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := Parse(strings.TrimSuffix(filepath.Base(path), ".toml"), data)
		if err != nil {
			t.Fatal(path, err)
		}
		texts = append(texts, text)
	}
	if entry, err := Of(texts); err != nil {
		t.Fatal(entry, err)
	}
	var b strings.Builder
	for _, f := range slices.DeleteFunc(texts, func(f *File) bool { return f.Entry > "11" && f.Entry < "a" }) {
		agree := 0
		for _, x := range f.Findings {
			if x.Holds {
				agree++
				continue
			}
			printed := x.Printed
			if printed == "" {
				printed = fmt.Sprintf("%.5g", x.Stands.Value)
			}
			fmt.Fprintf(&b, "%s %s: %s, %s %.5g\n", f.Entry, x.Place, printed, x.Relation, x.Allowed.Value)
		}
		fmt.Fprintf(&b, "%s %d agree\n", f.Entry, agree)
	}
	const golden = "testdata/findings.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(golden); err != nil || b.String() != string(want) {
		t.Errorf("%v; findings are\n%s\nand if that is meant: go test ./internal/law/audit -update", err, b.String())
	}
}

// A row of 100 connections and 4 workers over a wire of 8 Gbit/s, or 1 GB/s, and what comes of one law.
func TestEveryRowIsChecked(t *testing.T) {
	for printed, want := range map[string]string{
		"transfer_bytes_per_s 124 MB/s, throughput_rps 1.00M":    "bytes-per-response true",
		"transfer_bytes_per_s 16.0 MB/s, throughput_rps 1.00M":   "bytes-per-response false", // no room for a head
		"transfer_bytes_per_s 232 MB/s, throughput_rps 1.000M":   "bytes-per-response false", // two heads
		"transfer_bytes_per_s 123.5 MB/s, throughput_rps 1.000M": "bytes-per-response true",
		"transfer_bytes_per_s 150 MB/s, throughput_rps 1.000M":   "net-http bytes-per-response true", // of another size
		"transfer_bytes_per_s 30.0 MB/s, throughput_rps 1.000M":  "net-http bytes-per-response false",
		"transfer_bytes_per_s 16.0 MB/s":                         "bytes-per-response",
		"transfer_bytes_per_s 100.0 MB/s, line_rate_share 10%":   "line-rate-share true",
		// 1M answers of 16 bytes and a head of 108 are 0.124 GB/s.
		"throughput_rps 1.00M, line_rate_share 12.4%": "line-rate-share true",
		"throughput_rps 1.10M, line_rate_share 12.4%": "line-rate-share false",
		"throughput_rps 8.20M":                        "line-rate-share false",
		"transfer_bytes_per_s 1.000 GB/s":             "line-rate-share false", // and heads
		// 100 connections at 10,000/s have a mean latency of 10 ms, so the median can be at most 20 ms.
		"throughput_rps 10,001, latency_p50_s 19ms": "in-flight true",
		"throughput_rps 10,001, latency_p50_s 21ms": "in-flight false",
		// 0.49 × 15 ms + 0.01 × 300 ms = 10.35 ms, and of ten seconds 0.3 may be of requests under way before.
		"throughput_rps 10,001, latency_p50_s 16ms, latency_p99_s 300ms": "in-flight false",
		"throughput_rps 10,001, latency_p50_s <1ms":                      "in-flight",
		"processes 4":                                           "count false",
		"connections_per_worker 26":                             "per-worker false",
		"server_cores_busy 2823%":                               "cpu-sum false",
		"server_cores_busy 100%":                                "cpu-sum",
		"latency_p50_s 5ms, latency_p99_s 3ms":                  "order false",
		"throughput_rps 8,004, throughput_per_worker_rps 2,001": "per-worker true",
	} {
		row := Row{Printed: map[string]string{}, Given: map[string]any{setting.Route: "/simple", setting.Connections: int64(100),
			setting.Pipelining: int64(1), setting.Workers: int64(4)}}
		for figure := range strings.SplitSeq(printed, ", ") {
			name, as, _ := strings.Cut(figure, " ")
			row.Printed[name] = as
		}
		law, isOther := strings.CutPrefix(want, "net-http ")
		if isOther {
			row.Given[setting.Stack] = "net-http"
		}
		text := &File{Entry: "99", Figures: map[string]*Printed{}}
		if err := text.row(&Table{ID: "t", Place: "p", LineRateBps: 8e9}, row, "c1"); err != nil {
			t.Fatal(err)
		}
		if _, err := Of([]*File{text}); err != nil {
			t.Fatal(err)
		}
		got := strings.Fields(law)[0]
		for _, x := range text.Findings {
			if x.Law == strings.Fields(law)[0] && !strings.HasSuffix(got, "false") {
				got = fmt.Sprint(x.Law, " ", x.Holds)
			}
		}
		if got != law {
			t.Errorf("%s: %q, want %q: %+v", printed, got, law, text.Findings)
		}
	}
}

func TestQuantitiesAreRoundedWhereTheirWidthLeavesThemUncertain(t *testing.T) {
	for want, c := range map[string]struct {
		stands  law.Quantity
		unit    metric.Unit
		printed string
	}{
		"93.0 %, 93.0 %, 92.5 to 93.5 %": {law.Around(0.93, 0.005), metric.Ratio, "93%"},
		"5,600 B, 5,600 B, ":             {law.Exactly(5600), metric.Bytes, ""},
		"6.2222 GB/s, 6.22 GB/s, ":       {law.Exactly(6.2222e9), metric.BytesPerSecond, ""},
		"3.50×, 3.50×, 3.45 to 3.55×":    {law.Around(3.5, 0.05), metric.Ratio, "3.5×"},
		"230×, 230×, 225 to 235×":        {law.Around(230, 5), metric.Ratio, "2,300x"},
		"120/min, 120/min, ":             {law.Exactly(2), metric.PerSecond, "120/min"},
	} {
		x := Finding{Result: law.Result{Rule: law.Rule{Unit: c.unit}}, Printed: c.printed}
		table, prose, ends := x.Print(c.stands)
		if got := table + ", " + prose + ", " + ends; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A text with one figure and one check, and the beginnings of what each case adds to it.
const (
	small = "date = 2026-01-01\n" +
		"[figures.rate]\nplace = \"a sentence\"\nprinted = \"1.5k\"\nunit = \"1/s\"\n" +
		"[[checks]]\nid = \"half\"\nlaw = \"product\"\nof = \"rate\"\nrelation = \"equals\"\nto = \"3000 / 2\"\n"
	figure = "[figures.c]\nplace = \"p\"\n"
	check  = "[[checks]]\nid = \"c\"\nlaw = \"delta\"\nrelation = \"equals\"\n"
	table  = "[[tables]]\nid = \"t\"\nplace = \"p\"\nexperiment = \"99-x\"\nhost = \"h\"\n"
	row    = "rows = [{ levels = { workers = 2 }, printed = { throughput_rps = \"5\" } }]\n"
)

func TestTextsThatAreRefused(t *testing.T) {
	rows := func(row string) string { return table + "rows = [{ " + row + " }]\n" }
	for more, says := range map[string]string{
		"x=1":                         `unknown key "checks.x"`,
		"note = \"n\"\nNote = \"m\"":  `unknown key "checks[0].Note"`,
		"[figures.rate]":              "already exists",
		figure + "printed = \"lots\"": "no printed figure",
		figure + "printed = \"1ms\"\nunit = \"B\"":                                `unit "B", but "1ms" is in "s"`,
		figure + "printed = \"1\"\nunit = \"furlong\"":                            "use one of",
		table + row + table + row:                                                 `"t": an id is of lower-case letters, digits and _, and is there once`,
		strings.Replace(table, `"t"`, `"A-b"`, 1) + row:                           `"A-b": an id is of lower-case`,
		check + "of = \"rate\"\nto = \"1\"\n" + check:                             `"check c": an id is of`,
		rows(`levels = { speed = 1 }, printed = {}`):                              "rows[0]: speed: unknown setting",
		rows(`levels = { connections = "many" }, printed = {}`):                   "rows[0]: ",
		rows(`levels = {}, printed = { speed = "1" }`):                            "rows[0]: printed: speed: no such metric",
		rows(`levels = {}, printed = { latency_p50_s = "5" }`):                    `latency_p50_s: "5" is no figure in s`,
		rows(`levels = {}, printed = { throughput_rps = "lots" }`):                "no printed figure",
		rows(`levels = {}, print = {}`):                                           `unknown key "tables.print"`,
		strings.Replace(check, "delta", "guess", 1) + "of = \"rate\"\nto = \"1\"": `unknown law "guess"`,
		check + "of = \"rate\"":                                                   `"", 1:1: expected operand`,
		strings.Replace(check, "equals", "is", 1) + "of = \"rate\"\nto = \"1\"":   "it is one of equals",
		check + "of = \"rate\"\nto = \"1\"\nwithin = 0.1":                         "note must say why",
		check + "of = \"rate\"\nto = \"1\"\nwithin = nan":                         "within must be a share",
		// A size that only had to exceed the body, or to stay below any possible head, would agree with nearly everything.
		strings.NewReplacer("delta", law.Answer, "equals", "at most").Replace(check) + "of = \"rate\"\nto = \"1\"": `checks "c": a size needs equals`,
		// These show only when formulas are evaluated.
		check + "of = \"rat\"\nto = \"1\"":                              `"rat", character 1: no figure "rat" in data/texts/99.toml`,
		check + "of = \"rate\"\nto = \"e98.x\"":                         `no figure "e98.x" in data/texts/99.toml`,
		check + "of = \"rate\"\nto = \"t.c1.x\"":                        `no figure "t.c1.x"`,
		check + "of = \"rate\"\nto = \"1 / 0\"":                         `"1 / 0" is no finite figure`,
		check + "of = \"rate * 2\"\nto = \"1\"":                         "place or unit: missing",
		check + "place = \"p\"\nof = \"rate * 2\"\nto = \"1\"":          "place or unit: missing",
		table + row + check + "of = \"t.c2.workers\"\nto = \"1\"":       `no figure "t.c2.workers"`,
		table + row + check + "of = \"t.c1.throughput_rp\"\nto = \"1\"": `did you mean "t.c1.throughput_rps"?`,
	} {
		text, err := Parse("99", []byte(small+more))
		if err == nil {
			_, err = Of([]*File{text})
		}
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("…%s: %v, want %q", more, err, says)
		}
	}
	for date, says := range map[string]string{"date = 2026-02-30\n": "line 1", "": "give the day on which"} {
		undated := strings.Replace(small, "date = 2026-01-01\n", date, 1)
		if _, err := Parse("99", []byte(undated)); err == nil || !strings.Contains(err.Error(), says) {
			t.Error(err)
		}
	}
}

func TestMannersOfPrinting(t *testing.T) {
	for _, c := range []struct {
		figure       Printed
		v, low, high float64
	}{
		{Printed{Printed: "1ms", Cut: true}, 1e-3, 1e-3, 2e-3},
		{Printed{Printed: "20ms", Cut: true}, 20e-3, 20e-3, 21e-3},
		{Printed{Printed: "500", Exact: true}, 500, 500, 500},
		{Printed{Printed: "2.62 MB", Binary: true}, 2.62 * 1048576, 2.615 * 1048576, 2.625 * 1048576},
		{Printed{Printed: "1M", Binary: true}, 1048576, 524288, 1572864},
		{Printed{Printed: "~5", Exact: true}, 0, 0, 0},
		{Printed{Printed: "<1ms", Cut: true}, 0, 0, 0},
		{Printed{Printed: "5", Cut: true, Exact: true}, 0, 0, 0},
		{Printed{Printed: "-5%", Cut: true}, 0, 0, 0},
	} {
		c.figure.Place = "p"
		err := c.figure.read()
		want := law.Quantity{Value: c.v, Low: c.low, High: c.high}.Rounded()
		if (err == nil) != (c.v > 0) || c.figure.Quantity != want {
			t.Errorf("%+v: %v", c.figure, err)
		}
	}
}
