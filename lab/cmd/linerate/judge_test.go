package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestJudgeSaysWhatCannotBe(t *testing.T) {
	const head = "name,connections,pipelining,rps,avg latency (ms)\n"
	oha := []string{"--made-by", "oha"}
	for _, c := range []struct {
		table  string
		args   []string
		status int
		says   string
	}{
		{head + "a,64,1,1000.0,60.0\n", nil, 0, "of 1 row, 1 adds up"},
		{head + "a,64,1,1000.0,60.0\nb,,,5,\n", nil, 0, "of 2 rows, 1 adds up and 1 has nothing to hold against"},
		{head + "a,64,1,1000.0,10.0\n", nil, 0, "line 2, a adds up, but about 10 of 64 connections had a request under way"},
		{head + "a,64,1,1000.0,100.0\nb,64,1,1000.0,60.0\n", oha, 1,
			"line 2, a cannot be: rate × mean, 99.9, is more than connections × pipelining, 64"},
		{head + "a,64,1,1000.0,100.0\n", []string{"--made-by=wrk"}, 2, "; but wrk adds latencies of requests that it never sent"},
		{"name,connections,rps,avg latency (ms)\na,64,1000.0,100.0\n", nil, 2,
			"; but pipelining is not given, and 2 on each connection would do"},
		{head + "a,64,1\nb,64,1,1000.0,60.0\n", nil, 2, "line 2 could not be read: it has 3 cells, and the head has 5"},
		{head + "a,64,1,1000.0,100.0\n", append(oha, "--json"), 1, `"verdict": "cannot be"`},
		{head + "a,64,1,1000.0,100.0\n", []string{"--made-by=wkr"}, 3, "did you mean"},
		{"{\"a\": {\"b\": 1}}", nil, 3, "JSON is not read"},
		{"a,b\n1,2\n", nil, 4, "t.md: nothing was judged: no table has heads as rate"},
		{"rps,mean (ms)\n1,2\n2,2\n3,2\n4,2\n", nil, 4, "t.md: nothing was judged: 4 rows have nothing to hold against: give --given connections=N\n"},
	} {
		path := filepath.Join(t.TempDir(), "t.md")
		if err := os.WriteFile(path, []byte(c.table), 0o644); err != nil {
			t.Fatal(err)
		}
		status, out, errs := called(append([]string{"judge", path}, c.args...)...)
		if all := out + errs; status != c.status || !strings.Contains(all, c.says) {
			t.Errorf("%q %v: exit %d, %s; want %d, %q", c.table, c.args, status, all, c.status, c.says)
		}
	}
}
