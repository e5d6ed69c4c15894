package main

import "testing"

func TestLoopbackAddr(t *testing.T) {
	for in, want := range map[string]string{
		"127.0.0.1:6060":          "127.0.0.1:6060",
		"127.9.8.7:0":             "127.9.8.7:0",
		"[::1]:6060":              "[::1]:6060",
		"[::ffff:127.0.0.1]:6060": "[::ffff:127.0.0.1]:6060",
		"localhost:6060":          "127.0.0.1:6060",
	} {
		if got, ok := loopbackAddr(in); !ok || got != want {
			t.Errorf("%s: %q, %v; want %q", in, got, ok, want)
		}
	}
	for _, in := range []string{
		"", "6060", ":6060", "0.0.0.0:6060", "[::]:6060", "10.0.0.1:6060", "128.0.0.1:6060",
		"example.com:6060", "localhost.example.com:6060", "127.0.0.1", "[::ffff:10.0.0.1]:6060",
		"127.1:6060", "127.0.0.1:x",
	} {
		if got, ok := loopbackAddr(in); ok {
			t.Errorf("%q is accepted, as %q", in, got)
		}
	}
}

func TestNetwork(t *testing.T) {
	for in, want := range map[string]string{
		":80":                   "tcp4",
		"127.0.0.1:80":          "tcp4",
		"localhost:80":          "tcp4",
		"[::ffff:127.0.0.1]:80": "tcp4",
		"[::1]:80":              "tcp6",
		"[::]:80":               "tcp6",
	} {
		if got := network(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
