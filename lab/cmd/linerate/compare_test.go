package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/cli"
)

// called runs linerate's command line.
func called(args ...string) (status int, out, errs string) {
	var o, e bytes.Buffer
	status = command(context.Background(), args, &o, &e)
	return status, o.String(), e.String()
}

func TestACallThatCannotBeMadeIsRefusedWithAWayOut(t *testing.T) {
	const a, b = "a=./a --port {port}", "b=./b --port {port}"
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"load"}, "<url>"},
		{[]string{"load", "http://127.0.0.1:1/"}, "linerate: http://127.0.0.1:1/, connection 1: nothing listens there"},
		{[]string{"load", "-c", "0", "http://127.0.0.1:1/"}, "connections is 0"},
		{[]string{"load", "-d", "10", "http://127.0.0.1:1/"}, "with its unit"},
		{[]string{"load", "--hdr", "/not/there/x", "http://127.0.0.1:1/"}, "--hdr: "},
		{[]string{"load", "--conections", "3", "http://127.0.0.1:1/"}, "--connections"},
		{[]string{a, b}, "--url"},
		{[]string{"--url", "/"}, "<server>"},
		{[]string{"--url", "/", a}, "1 server is named\nhint: name two"},
		{[]string{"--url", "/", a, "b=./b"}, "neither {port} nor {addr}"},
		{[]string{"--url", "http://h/", a, b}, "path is \"http://h/\"\nhint: give what follows the host"},
		{[]string{"--scenario", "/nowhere.toml", a, b}, "open /nowhere.toml"},
		{[]string{"--url", "/", "--no-keepalive", "--pipelining", "2", a, b}, "with close each connection takes one request"},
		{[]string{"--url", "/", "--no-keepalive", "--http2", a, b}, "--http2 keeps its connections open"},
		{[]string{"--url", "/", "--insecure", a, b}, "by https:// or, of a command, by --tls"},
		{[]string{"--url", "/", "--tls", "--insecure", "--cacert", "main.go", a, b}, "leave out ca"},
		{[]string{"--url", "/", "--tls", "--cacert", "/nowhere", a, b}, "open /nowhere"},
		{[]string{"--url", "/", "--tls", "--cacert", "main.go", a, b}, "ca has no certificate in PEM"},
		{[]string{"--url", "/", "--tls", "a=http://h:1", "b=http://h:2"}, "write https://h:1"},
		{[]string{"--url", "/", "a=unix:/nowhere/s", "b=unix:/nowhere/t"}, "a: there is no socket /nowhere/s"},
		{[]string{"--url", "/", "--ready", "0s", a, b}, "--ready 0s"},
		{[]string{"--url", "/", "--margin", "3", a, b}, "--margin: \"3\": write a share"},
		{[]string{"--url", "/", "--budget", "60", a, b}, "with its unit"},
		{[]string{"--url", "/", "--rates", "10..20", a, b}, "--rates: \"10..20\": write requests"},
		{[]string{"--url", "/", "--rates", "10%", "--rate", "9", a, b}, "leave out --rate"},
		{[]string{"--url", "/", "--json-file", "/nowhere/a.json", a, b}, "/nowhere/a.json cannot be written"},
		{[]string{"--url", "/", "--markdown-file", "/", a, b}, "/ is a directory"},
		{[]string{"--url", "/", "--json", "--markdown", a, b}, "--json-file"},
		{[]string{"--url", "/", "--fail-above", "1.05", "a=http://h:1", "b=http://h:2"},
			"need the servers' processes, and an address alone has none"},
		{[]string{"--url", "/", "--build", "make", a, b}, "--head and --build go with --base"},
		{[]string{"--url", "/", "--base", "main", "http://h:1"}, "--base starts a server of each revision"},
	} {
		if c.args[0] != "load" {
			c.args = append([]string{"compare"}, c.args...)
		}
		status, out, errs := called(c.args...)
		if status != cli.Failed || !strings.Contains(errs, c.says) || strings.Count(errs, "\n") != 3 || out != "" {
			t.Errorf("%q: exit %d, %q, want %q", c.args, status, errs, c.says)
		}
	}
}

func TestWhatWasTypedIsKeptWithoutTheFlagForPrograms(t *testing.T) {
	got := typed([]string{".tools/bin/linerate", "compare", "--json", "--url", "/", "a=./a --port {port}"})
	if want := "linerate compare --url / 'a=./a --port {port}'"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
