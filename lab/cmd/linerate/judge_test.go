package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
