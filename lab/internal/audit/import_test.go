package audit

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

func imported() *Import {
	return &Import{Entry: "97", Source: "A text", Date: "2026-06-12", Place: "table", Settings: setting.Levels{}, Columns: map[string]string{}, Units: map[string]string{}}
}

// asRun takes the table as a published run.
func asRun() *Import {
	in := imported()
	in.Experiment = &experiment.Experiment{Name: "97-made-up"}
	in.Run, in.Hosts, in.Topology = "published-2026-06-12-h", results.Hosts{Server: "h", Client: "h"}, results.Topology{Kind: "fleet"}
	return in
}

// Each cell stands for one value, and keeps the form in which it was printed.
func TestFiguresOfATableAreAsPrinted(t *testing.T) {
	for _, c := range []struct {
		head, cell, name, printed string
		value                     float64
	}{
		{"RPS", `"794,310"`, "throughput_rps", "794,310", 794310},
		{"RPS", "1.3M", "throughput_rps", "1.3M", 1.3e6},
		{"Req/Sec", "~34k", "throughput_rps", "~34k", 34000},
		{"Requests per second", "748868.53", "throughput_rps", "748868.53", 748868.53},
		{"Throughput (k req/s)", "790", "throughput_rps", "790k", 790000},
		{"p99 (ms)", "1.125", "latency_p99_s", "1.125 ms", 0.001125},
		{"p99 [ms]", "1.125", "latency_p99_s", "1.125 ms", 0.001125},
		{"p99_us", "3", "latency_p99_s", "3 µs", 3e-6},
		{`"p99 latency, µs"`, "350", "latency_p99_s", "350 µs", 350e-6},
		{"p99.9", "3ms", "latency_p999_s", "3ms", 0.003},
		{"latency_p99_s", "0.003", "latency_p99_s", "0.003 s", 0.003},
		{"Share of line rate", "75.4 %", "line_rate_share", "75.4 %", 0.754},
		{"line_rate_share", "0.07", "line_rate_share", "0.07", 0.07},
		{"line rate (%)", "7", "line_rate_share", "7%", 0.07},
		{"Transfer", `"3,491 MB/s"`, "transfer_bytes_per_s", "3,491 MB/s", 3.491e9},
		{"Transfer (GB/s)", "6.25", "transfer_bytes_per_s", "6.25 GB/s", 6.25e9},
		{"Response size (B)", `"4,522"`, "response_bytes", "4,522 B", 4522},
		{"metric workers", "", "", "", 0}, // takes the next row's form, by --column
		{"Threads per worker", "10.1", "threads_per_worker", "10.1", 10.1},
	} {
		in := asRun()
		in.Columns["metric workers"] = "metric:workers"
		if c.cell == "" {
			c.cell, c.name, c.printed, c.value = "128", "workers", "128", 128
		}
		sheet, err := in.Read([]byte("connections," + c.head + "\n100," + c.cell + "\n"))
		if err != nil {
			t.Errorf("%s of %s: %v", c.cell, c.head, err)
			continue
		}
		data, err := sheet.Run()
		if err != nil {
			t.Errorf("%s of %s: %v", c.cell, c.head, err)
			continue
		}
		f := &results.File{}
		if err := results.Decode(data, results.SchemaURL, f); err != nil {
			t.Fatal(err)
		}
		trial := f.Trials[0]
		if trial.Metrics[c.name] != c.value || trial.Printed[c.name] != c.printed || len(trial.Metrics) != 1 {
			t.Errorf("%s of %s: %v, %q; want %s %v, %q", c.cell, c.head, trial.Metrics, trial.Printed, c.name, c.value, c.printed)
		}
	}
}

func TestATableIsRead(t *testing.T) {
	const table = "Connections,RPS,p50 (ms),p99 (ms),Steering\n500,\"794,310\",<1,1.125,off\n\"1,000\",1.3M,–,3,on\n"
	for name, text := range map[string]string{
		"plain": table, "a byte-order mark": "\ufeff" + table, "line ends of Windows": strings.ReplaceAll(table, "\n", "\r\n"),
		"no last line end": strings.TrimSuffix(table, "\n"), "tabs": strings.NewReplacer(`"794,310"`, "794,310", `"1,000"`, "1,000", ",", "\t").Replace(table),
		"semicolons": strings.NewReplacer(`"794,310"`, "794310", `"1,000"`, "1000", ",", ";").Replace(table), "blanks": strings.ReplaceAll(table, "500,", " 500 ,"),
		"blank lines": strings.ReplaceAll(table, "\n", "\n\n"), "no-break spaces": strings.ReplaceAll(table, "500,", "\u00a0500,"),
	} {
		in := asRun()
		in.Columns["Steering"] = "rps"
		sheet, err := in.Read([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		f := sheet.file("x")
		one, two := f.Conditions[0].Levels, f.Conditions[1].Levels
		if len(f.Trials) != 2 || one.Key() != "rps=false connections=500" || two.Key() != "rps=true connections=1000" {
			t.Errorf("%s: %v, %v", name, one, two)
		}
		a, b := f.Trials[0], f.Trials[1]
		if a.Metrics["throughput_rps"] != 794310 || a.Below["latency_p50_s"] != 0.001 || a.Metrics["latency_p99_s"] != 0.001125 || b.Printed["throughput_rps"] != "1.3M" || len(b.Printed) != 2 {
			t.Errorf("%s: %+v, %+v", name, a, b)
		}
	}
}

// What could mean two things, and what cannot be true, is refused with its place.
func TestATableIsRefusedByLineAndColumn(t *testing.T) {
	for _, c := range []struct{ table, says string }{
		{"connections,RPS\n1,NaN\n", `line 2, column 3: RPS: "NaN" is no figure; leave the cell empty`},
		{"connections,RPS\n1,-Inf\n", `line 2, column 3: RPS: "-Inf" is no figure`},
		{"connections,RPS\n1,-5\n", "line 2, column 3: throughput_rps: -5 is below 0"},
		{"connections,RPS\n1,1e300\n", `line 2, column 3: RPS: "1e300": write the figure in digits`},
		{"connections,RPS\n1,9999999999999999\n", "is more than any figure of a run"},
		{"connections,RPS\n1," + strings.Repeat("9", 400) + "\n", "line 2, column 3: RPS: "},
		{"connections,RPS\n1,794.310\n", `"794.310" may be 794,310 or 794.310; write the first, or say --decimal-point`},
		{"connections,RPS\n1,\"1,3\"\n", `"1,3": a comma separates thousands`},
		{"connections,RPS\n1,794 310\n", `write thousands with commas`},
		{"connections,RPS\n1,1.234.567\n", "a point is a decimal point"},
		{"connections;p99 (ms)\n1;1,125\n", "in a file with semicolons a comma may be a decimal one"},
		{"connections,RPS\n1,a lot\n", `"a lot" is no printed figure`},
		{"connections,RPS\n1,5 ms\n", `"5 ms" is a figure in s, but throughput_rps is given in requests`},
		{"connections,p99\n1,1.2\n", `line 2, column 3: p99: "1.2" has no unit: give it in the head, as "p99 (ms)", or by --unit "p99=ms"`},
		{"connections,p99 (ms)\n1,1.2 µs\n", `"1.2 µs", but the column is in ms`},
		{"connections,p99 (MB/s)\n1,1\n", `line 1, column 13: unit "MB/s", but latency_p99_s is given in s, ms, µs or ns`},
		{"connections,p99 (msec)\n1,1\n", `unit "msec" is unknown; did you mean`},
		{"connections,Transfer (MiB/s)\n1,1\n", "counts by 1,024"},
		{"connections,line rate (ratio)\n1,5\n", "line 2, column 3: line_rate_share: 5 is a share of more than all; a percentage has % in its head or its cell"},
		{"connections,line rate (%)\n1,500\n", "5 is a share of more than all"},
		{"connections,p50 (ms),p99 (ms)\n1,3,1\n", "line 2, column 5: latency_p99_s: 0.001 is less than latency_p50_s, 0.003; if the text prints it so, say --warn"},
		{"connections,RPS\n1,5\n2,6\n1,7\n", "line 4, column 1: connections: connections=1 stands in line 2 already"},
		{"RPS\n1\n2\n", "no setting stands in line 2 already"},
		{"connections,RPS,Throughput\n1,5,5\n", `line 1, column 17: "RPS" and "Throughput" are both throughput_rps; each figure stands once`},
		{"connections,RPS\n1,794,310\n", `line 2: 3 fields, where the head has 2; a figure with a comma is quoted, as "794,310"`},
		{"connections,RPS\n1\n", "line 2: 1 fields, where the head has 2"},
		{"connections,RPS\n,5\n", "line 2, column 1: connections: no level of connections"},
		{"connections,RPS\n1.5,5\n", `setting "connections"`},
		{"route,RPS\nread,5\n", `setting "route"`},
		{"connections,RPS\n1,\n", "a row without a figure"},
		{"connections,\n1,5\n", "line 1, column 13: a column without a name"},
		{"connexions,RPS\n1,5\n", `line 1, column 1: no setting or metric is called "connexions"; did you mean "connections"`},
		{"connections\n1\n", "no column with a metric"},
		{"connections,RPS\n", "line 1: no rows"},
		{"", "line 1: no rows"},
		{"connections,RPS\n1,\"5\n", "line 2, column"},
		{"connections,RPS\n1,5\"\n", `bare " in non-quoted-field; a field with a quote in it is quoted`},
		{"connections,RPS\r1,5\r", "line 1: a carriage return without a line feed"},
		{"\xff\xfec\x00", "the file is UTF-16"},
		{"connections,RPS\n1,\xff5\n", "line 2: not UTF-8"},
		{"connections,RPS\n1,5\x00\n", "line 2, column 3: the text has U+0000 in it"},
		{"connections,RPS\n1,\"5\n6\"\n", "has U+000A in it"},
		{"connections,RPS\n" + strings.Repeat("1,5\n", 300000), "more than 1048576 bytes, which no table has"},
	} {
		_, err := imported().Read([]byte(c.table))
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.60q: %v, want %s", c.table, err, c.says)
		}
	}
	in := imported()
	in.Points = true
	if _, err := in.Read([]byte("connections,RPS\n1,794.310\n")); err != nil {
		t.Errorf("with --decimal-point: %v", err)
	}
	in.Settings[setting.Connections] = setting.Int(3)
	if _, err := in.Read([]byte("connections,RPS\n1,5\n")); err == nil || !strings.Contains(err.Error(), "connections is a column, and --set gives it as well") {
		t.Errorf("a setting twice: %v", err)
	}
	in = imported()
	in.Warnings = []string{"latency_p99_s: printed as 1 ms"}
	if _, err := in.Read([]byte("connections,p50 (ms),p99 (ms)\n1,3,1\n")); err != nil {
		t.Errorf("with a warning: %v", err)
	}
}

// Without an experiment the figures stand in the text, and each of them once.
func TestFiguresOfATableStandInTheTextOnce(t *testing.T) {
	sheet, err := imported().Read([]byte("route,connections,RPS,p99 (ms),Share of line rate,Requests\n/simple,500,\"794,310\",<1,56 %,\"1,200\"\n/read,500,1.3M,2,0.5 %,7\n"))
	if err != nil {
		t.Fatal(err)
	}
	data, err := sheet.Text(nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := Parse("97", data)
	if err != nil || len(text.Figures) != 8 || len(text.Tables) != 0 || !strings.HasPrefix(string(data), "# A text, 2026-06-12.\nentry = \"97\"\n") {
		t.Fatalf("%v\n%s", err, data)
	}
	got := map[string]string{}
	for _, f := range text.Figures {
		got[f.ID] = fmt.Sprint(f.Place, "|", f.Printed, "|", f.Unit, "|", f.Exact)
	}
	for id, want := range map[string]string{
		"throughput_rps_simple_500": "table, route /simple, connections 500: throughput|794,310|1/s|false",
		"latency_p99_s_simple_500":  "table, route /simple, connections 500: p99|<1 ms||false",
		"line_rate_share_read_500":  "table, route /read, connections 500: share of line rate|0.5 %||false",
		"requests_simple_500":       "table, route /simple, connections 500: requests|1,200||true",
	} {
		if got[id] != want {
			t.Errorf("%s: %q, want %q; there are %q", id, got[id], want, slices.Sorted(maps.Keys(got)))
		}
	}
	if _, err := sheet.Text(data); err == nil || !strings.Contains(err.Error(), `line 2, column 13: RPS: figure "throughput_rps_simple_500" stands in data/texts/97.toml already`) {
		t.Errorf("a second time: %v", err)
	}
	// A table of an experiment is named, and its figures are not repeated.
	run, err := asRun().Read([]byte("connections,RPS\n500,5\n"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // a second time changes nothing but the comment
		if data, err = run.Text(data); err != nil {
			t.Fatal(err)
		}
	}
	text, err = Parse("97", data)
	if err != nil || len(text.Figures) != 8 || len(text.Tables) != 1 || text.Tables[0] != (Table{"t", "table", "97-made-up", "published-2026-06-12-h"}) {
		t.Errorf("%v, %+v", err, text)
	}
	in := imported()
	in.Place = "a\nb"
	if sheet, err = in.Read([]byte("connections,RPS\n500,5\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := sheet.Text(nil); err == nil {
		t.Error("a place of two lines was written")
	}
}

// Whatever the file, it is refused in one line, or gives a run and a text that are read.
func FuzzImport(f *testing.F) {
	for _, s := range []string{
		"connections,RPS,p50 (ms),p99 (ms)\n500,\"794,310\",<1,1.125\n\"1,000\",1.3M,–,3\n", "\ufeffroute;line rate (%)\r\n/read;75.4\r\n",
		"workers\tp99_us\n1\t~3\n", "a\"b,\"c\nd\"\n", "rps,RPS\non,5\n", "replicate,transfer_bytes_per_s\n1,5\n2,\"1,000\"\n",
	} {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, text string, points bool) {
		for _, in := range []*Import{imported(), asRun()} {
			in.Points = points
			sheet, err := in.Read([]byte(text))
			if err != nil {
				if strings.Contains(err.Error(), "\n") {
					t.Errorf("two lines: %q", err)
				}
				continue
			}
			data, err := sheet.Text(nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Parse("97", data); err != nil {
				t.Error(err)
			}
			if in.Experiment != nil {
				if _, err := sheet.Run(); err != nil {
					t.Errorf("%q: %v", text, err)
				}
			}
		}
	})
}
