package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// imports runs lab import in the workshop's journal, of a table with that text.
func (w *workshop) imports(table string, args ...string) (status int, out, errs string) {
	w.t.Helper()
	w.t.Chdir(string(w.root))
	csv := filepath.Join(w.t.TempDir(), "figures.csv")
	w.write(csv, table)
	var said, complained bytes.Buffer
	status = command(context.Background(), append([]string{"import", csv, "--source", "A text", "--date", "2026-06-12"}, args...), &said, &complained)
	return status, said.String(), strings.ReplaceAll(complained.String(), csv, "figures.csv")
}

const figures = "workers,processes,RPS,p99 (ms)\n1,2,\"794,310\",1.125\n2,3,1.3M,3\n"

func TestATableBecomesAPublishedRunAndItsText(t *testing.T) {
	w := newWorkshop(t)
	w.write(w.root.Host("a-host"), `{"schema_version": 1, "id": "a-host", "name": "A host", "cores": 8}`)
	asRun := []string{"--text", "97", "--experiment", counted, "--host", "a-host", "--line-rate", "50 Gbps", "--set", "route=/read"}

	before := w.holds()
	status, out, errs := w.imports(figures, append(asRun, "--dry-run")...)
	if status != exitHeld || errs != "" || !strings.Contains(out, `"latency_p99_s": "1.125 ms"`) || !strings.Contains(out, "data/texts/97.toml:\n# A text, 2026-06-12.\nentry = \"97\"") {
		t.Fatalf("a dry run: exit %d, %q\n%s", status, errs, out)
	}
	if after := w.holds(); len(after) != len(before) {
		t.Errorf("a dry run wrote %q, where there were %q", after, before)
	}

	status, out, errs = w.imports(figures, asRun...)
	const run = "data/results/" + counted + "/published-2026-06-12-a-host.json"
	if status != exitHeld || errs != "" || out != "wrote "+run+"\nwrote data/texts/97.toml\n" {
		t.Fatalf("exit %d, %q, %q", status, out, errs)
	}
	f, err := results.Read(w.root.Path(run))
	if err != nil || f.Topology.LineRateBps != 5e10 || f.Text.Date != "2026-06-12" || !strings.Contains(f.Text.Note, "A text") {
		t.Errorf("%v, %+v", err, f)
	}
	if status, out, errs := w.call("check"); status != exitHeld {
		t.Errorf("lab check: %s%s", out, errs)
	}
	// Pages print these words.
	if page := archivetest.Read(t, w.root.Verdict(counted, "published-2026-06-12-a-host")); !strings.Contains(page, `"printed": "2"`) {
		t.Errorf("the figures as printed are missing:\n%s", page)
	}

	// Nothing is written over, unless that is said.
	had := archivetest.Read(t, w.root.Path(run)) + archivetest.Read(t, w.root.Text("97"))
	for _, c := range []struct {
		args []string
		says string
	}{
		{nil, "lab: data/texts/97.toml is there already; --add adds to it, --replace replaces it\n"},
		{[]string{"--add"}, "lab: " + run + " is there already; --replace replaces it, --as WORD names another run of that day\n"},
		{[]string{"--add", "--as", "again"}, "lab: " + run + " has the figures of workers=1 already; each figure stands once\n"},
		{[]string{"--add", "--replace"}, "lab: --add and --replace: use one of them\n"},
	} {
		if status, _, errs := w.imports(figures, append(asRun, c.args...)...); status != exitFailed || errs != c.says {
			t.Errorf("%v: exit %d, %q, want %q", c.args, status, errs, c.says)
		}
		if is := archivetest.Read(t, w.root.Path(run)) + archivetest.Read(t, w.root.Text("97")); is != had {
			t.Errorf("%v changed the files", c.args)
		}
	}
	if status, _, errs := w.imports(strings.Replace(figures, "1.125", "1.25", 1), append(asRun, "--replace")...); status != exitHeld || !strings.Contains(archivetest.Read(t, w.root.Path(run)), `"1.25 ms"`) {
		t.Errorf("--replace: exit %d, %q", status, errs)
	}
	if status, _, errs := w.imports("workers,RPS\n1,5\n", append(asRun, "--add", "--as", "again")...); status != exitHeld || !strings.Contains(archivetest.Read(t, w.root.Text("97")), "id = \"t2\"") {
		t.Errorf("another run of that day: exit %d, %q", status, errs)
	}
}

func TestATableWithoutAnExperimentGoesIntoTheText(t *testing.T) {
	w := newWorkshop(t)
	if status, out, errs := w.imports(figures, "--text", "97", "--place", "table of two rows"); status != exitHeld || out != "wrote data/texts/97.toml\n" {
		t.Fatalf("exit %d, %q, %q", status, out, errs)
	}
	if text := archivetest.Read(t, w.root.Text("97")); !strings.Contains(text, "place = \"table of two rows, workers 1: p99\"\nprinted = \"1.125 ms\"\n") {
		t.Error(text)
	}
	if status, out, errs := w.call("check"); status != exitHeld {
		t.Errorf("lab check: %s%s", out, errs)
	}
	if status, _, errs := w.imports(figures, "--text", "97", "--add"); status != exitFailed || !strings.Contains(errs, `figures.csv: line 2, column 3: processes: figure "processes_1" stands in data/texts/97.toml already`) {
		t.Errorf("exit %d, %q", status, errs)
	}
}

func TestImportRefusesInOneLine(t *testing.T) {
	w := newWorkshop(t)
	before := w.holds()
	for _, c := range []struct {
		table string
		args  []string
		says  string
	}{
		{figures, nil, "missing flags: --text=ENTRY"},
		{figures, []string{"--text", "../97"}, `entry "../97": give a number of two digits`},
		{figures, []string{"--text", "97", "--date", "12 June"}, `--date "12 June": give the day`},
		{figures, []string{"--text", "97", "--date", "2999-01-01"}, "give the day on which it was published"},
		{figures, []string{"--text", "97", "--source", " "}, "say it in one line"},
		{figures, []string{"--text", "97", "--place", "a\nb"}, "say it in one line"},
		{figures, []string{"--text", "97", "--experiment", counted}, "--experiment needs --host"},
		{figures, []string{"--text", "97", "--experiment", counted, "--host", "nobodys"}, `no host "nobodys" in data/hosts`},
		{figures, []string{"--text", "97", "--experiment", "97"}, `no experiment "97"`},
		{figures, []string{"--text", "97", "--set", "rout=/read"}, `no setting "rout"; did you mean "route"`},
		{figures, []string{"--text", "97", "--set", "route=read"}, `--set "route=read": setting "route"`},
		{figures, []string{"--text", "97", "--line-rate", "fast"}, "--line-rate: "},
		{figures, []string{"--text", "97", "--line-rate", "5 ms"}, `"5 ms" is no rate of a wire`},
		{figures, []string{"--text", "97", "--unit", "p99"}, `--unit "p99": write the head, = and what it is`},
		{figures, []string{"--text", "97", "--column", "RPS=throughputrps"}, `did you mean "throughput_rps"`},
		{"workers,RPS\n1,NaN\n", []string{"--text", "97"}, `figures.csv: line 2, column 3: RPS: "NaN" is no figure`},
	} {
		status, out, errs := w.imports(c.table, c.args...)
		if status != exitFailed || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, c.says) {
			t.Errorf("%q: exit %d, %q, %q, want one line with %q", c.args, status, out, errs, c.says)
		}
	}
	var errs bytes.Buffer
	if status := command(context.Background(), []string{"import", "gone.csv", "--text", "97", "--source", "s", "--date", "2026-06-12"}, &bytes.Buffer{}, &errs); status != exitFailed || errs.String() != "lab: gone.csv: no such file or directory\n" {
		t.Errorf("exit %d, %q", status, errs.String())
	}
	if after := w.holds(); len(after) != len(before) {
		t.Errorf("files were written: %q", after)
	}
}

// If the journal has a fault with the new files, everything is as it was.
func TestWhatMakesAFaultIsTakenBack(t *testing.T) {
	w := newWorkshop(t)
	w.t.Chdir(string(w.root))
	j := w.open()
	w.write(w.root.Text("98"), "entry = \"98\"\n")
	before := w.holds()
	err := put(j, []file{{w.root.Host("new"), []byte(`{"schema_version": 1, "id": "new", "name": "New"}`)}, {w.root.Text("98"), []byte("entry = \"99\"\n")}})
	if err == nil || !strings.Contains(err.Error(), "data/texts/98.toml: entry") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(w.root.Host("new")); err == nil || archivetest.Read(t, w.root.Text("98")) != "entry = \"98\"\n" || len(w.holds()) != len(before) {
		t.Error("something was left or changed")
	}
}
