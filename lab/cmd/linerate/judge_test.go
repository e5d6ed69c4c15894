package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/compare"
)

func TestJudgeSaysWhatCannotBe(t *testing.T) {
	const head = "name,connections,pipelining,rps,avg latency (ms)\n"
	for _, c := range []struct {
		table  string
		args   []string
		status int
		says   string
	}{
		{head + "a,64,1,1000.0,10.0\n", nil, 0, "of 1 row, 1 adds up"},
		{head + "a,64,1,1000.0,100.0\nb,64,1,1000.0,10.0\n", nil, 1,
			"line 2, a cannot be: rate × mean, 99.9, is more than connections × pipelining, 64"},
		{"name,connections,rps,avg latency (ms)\na,64,1000.0,100.0\n", nil, 2,
			"; but pipelining is not given, and 2 on each connection would do"},
		{head + "a,64,1\n", nil, 2, "line 2 could not be read: it has 3 cells, and the head has 5"},
		{head + "a,64,1,1000.0,100.0\n", []string{"--json"}, 1, `"verdict": "cannot be"`},
		{"a,b\n1,2\n", nil, 3, "no column has a head that is known"},
		{head + "a,64,1,1000.0,10.0\n", []string{"--test", "a=./a {port}", "--test", "b=./b {port}"}, 3, `no row "b" is like that of "a"`},
		{head + "a,64,1,1000.0,10.0\n", []string{"--test", "c=./a {port}", "--test", "b=./b {port}"}, 3, `no row with a rate is called "c"`},
		{head + "a,64,1,1000.0,10.0\nb,64,1,1000.0,10.0\n", []string{"--test", "a=./a {port}", "--test", "b=./b {port}"}, 3, "are alike"},
	} {
		path := filepath.Join(t.TempDir(), "t.csv")
		if err := os.WriteFile(path, []byte(c.table), 0o644); err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		status := command(context.Background(), append([]string{"judge", path}, c.args...), &out, &errs)
		if all := out.String() + errs.String(); status != c.status || !strings.Contains(all, c.says) {
			t.Errorf("%q %v: exit %d, %s; want %d, %q", c.table, c.args, status, all, c.status, c.says)
		}
	}
}

// A false "reproduced" is the worst that could be said: not where the client was the wall, and not where 1 is within
// what is known.
func TestWhatHeldOfAClaim(t *testing.T) {
	for _, c := range []struct {
		printed, low, high float64
		bound              string
		verdict            compare.Verdict
		want               string
	}{
		{1.3, 1.1, 1.4, "server-cpu", compare.Cheaper, "reproduced"},
		{1.3, 0.8, 0.9, "server-cpu", compare.Dearer, "refuted"},
		{0.7, 0.8, 0.9, "server-cpu", compare.Dearer, "reproduced"},
		{0.7, 1.1, 1.4, "server-cpu", compare.Cheaper, "refuted"},
		{1.3, 0.9, 1.4, "server-cpu", compare.Undecided, "inconclusive"},
		{1.3, 1, 1.4, "server-cpu", compare.Cheaper, "inconclusive"},
		{1.3, 0, 0, "server-cpu", compare.Undecided, "inconclusive"},
		{1.3, 1.1, 1.4, "client-cpu+server-cpu", compare.Cheaper, "inconclusive"},
		{1.3, 1.1, 1.4, "server-cpu", compare.Invalid, "inconclusive"},
	} {
		of := claim{Over: "b", Base: "a", Printed: c.printed}
		of.held(&compare.Outcome{Servers: []compare.Measured{{Name: "a", Bound: "server-cpu"}, {Name: "b", Bound: c.bound}},
			Comparisons: []compare.Comparison{{Name: "b", Base: "a", Verdict: c.verdict, Throughput: &compare.Ratio{Ratio: 1.2, Blocks: 9, Low: c.low, High: c.high}}}})
		if of.Verdict != c.want {
			t.Errorf("%+v: %s, %s", c, of.Verdict, of.Says)
		}
	}
	of := claim{Over: "b", Base: "a", Printed: 1.3}
	if of.held(&compare.Outcome{}); of.Verdict != "inconclusive" {
		t.Errorf("of no comparison: %s", of.Verdict)
	}
}
