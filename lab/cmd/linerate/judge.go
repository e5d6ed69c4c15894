package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/cli"
	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

type judgeCall struct {
	File   string   `arg:"" help:"A text with tables, or with what load generators printed; - is standard input."`
	Given  []string `placeholder:"FIGURE=VALUE" sep:"none" help:"A figure that all rows have and the file does not say, as connections=64 or line=10Gbit/s. Repeat it for several."`
	Unit   []string `placeholder:"HEAD=UNIT" sep:"none" help:"The unit of a column whose head has none, as p99=us; latency=us is of all latencies. Repeat it for several."`
	MadeBy string   `placeholder:"TOOL" help:"The load generator that made the tables, as wrk; another is one that adds nothing to what it measures."`
	Means  bool     `help:"Each row is a mean over several runs, so that rate × latency may err."`
	All    bool     `help:"Print all findings and remarks, and not the first 40 of each alone."`
	JSON   bool     `name:"json" help:"Print JSON, for programs."`
}

const (
	longestTable = 1 << 30 // bytes
	mostFindings = 40
	nothing      = 4 // exit status of an empty judgement
)

func (c *judgeCall) do(_ context.Context, out io.Writer) (int, error) {
	text, err := c.text()
	if err != nil {
		return cli.Failed, err
	}
	o := law.Options{Given: c.Given, Units: c.Unit, MadeBy: c.MadeBy, Averaged: c.Means, Most: mostFindings}
	if c.All || c.JSON {
		o.Most = 0
	}
	found, err := law.Judge(c.File, text, o)
	if err != nil {
		return cli.Failed, err
	}
	report, status := said(found, cli.Columns(out)), 0
	switch why := found.Nothing(); {
	case why != "":
		report, status = []byte(cli.Fit(found.Name+": "+why, cli.Columns(out))+"\n"), nothing
	case found.Of[law.Impossible] > 0:
		status = 1
	case found.Of[law.Unsupported]+found.Of[law.Unread] > 0:
		status = 2
	}
	if c.JSON {
		report, err = asJSON(found)
	}
	if err == nil {
		_, err = out.Write(report)
	}
	return status, err
}

func (c *judgeCall) text() ([]byte, error) {
	if c.File == "-" {
		c.File = "standard input"
		return strict.ReadAll(os.Stdin, longestTable)
	}
	return strict.ReadUpTo(c.File, longestTable)
}

// plurals are the verdicts on several rows.
var plurals = map[law.Verdict]string{law.Impossible: "cannot be", law.Unsupported: "are not supported", law.Sound: "add up",
	law.Unheld: "have nothing to hold against", law.Unread: "could not be read"}

// said tells a report: a line for each finding and remark, then what was found in all.
func said(of *law.Report, columns int) []byte {
	var b bytes.Buffer
	say := func(format string, args ...any) {
		b.WriteString(cli.Fit(fmt.Sprintf(format, args...), columns) + "\n")
	}
	where := func(f law.Finding) string {
		at := fmt.Sprintf("line %d", f.Line)
		return strings.TrimSuffix(at+", "+strings.TrimPrefix(f.Row, at), ", ")
	}
	for _, f := range of.Findings {
		text := fmt.Sprintf("%s %s: %s", where(f), f.Verdict, f.Says)
		if f.Unless != "" {
			text += "; but " + f.Unless
		}
		say("%s", text)
	}
	for _, f := range of.Remarks {
		say("%s %s, but %s", where(f), f.Verdict, f.Says)
	}
	if of.More > 0 {
		say("and %s; --all prints them", words.Count(of.More, "line more", "lines more"))
	}
	var parts []string
	for _, v := range law.Verdicts {
		if n := of.Of[v]; n > 0 {
			parts = append(parts, words.Thousands(n)+" "+words.Plural(n, string(v), plurals[v]))
		}
	}
	say("%s: of %s, %s", of.Name, words.Count(of.Rows, "row"), words.List(parts))
	for _, l := range law.All {
		if n := of.Laws[l.Name]; n.Broken > 0 {
			say("  %s, broken in %s of %s: %s", l.Name, words.Thousands(n.Broken), words.Thousands(n.Broken+n.Held), l.Meaning)
		}
	}
	for _, note := range of.Notes {
		say("  %s", note)
	}
	return b.Bytes()
}
