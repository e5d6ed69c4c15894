package main

import "testing"

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
