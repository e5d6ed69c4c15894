package main

import (
	"bytes"
	"errors"
	"flag"
	"strings"
	"testing"
)

// env makes a getenv from pairs of name and value.
func env(pairs ...string) func(string) string {
	return func(key string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == key {
				return pairs[i+1]
			}
		}
		return ""
	}
}

var defaults = Settings{
	Addr:        "127.0.0.1:8083",
	Stack:       "fiber",
	Prefork:     true,
	Index:       "pool",
	WriteBuffer: 4096,
	PprofAddr:   "127.0.0.1:6060",

	MutexFraction: 5,
	BlockRateNs:   1_000_000,
}

func TestSettings(t *testing.T) {
	for _, tt := range []struct {
		name   string
		args   []string
		env    []string
		change func(*Settings)
	}{
		{"defaults", nil, nil, func(*Settings) {}},
		{"flag", []string{"--addr=:9"}, nil, func(s *Settings) { s.Addr = ":9" }},
		{"flag, value apart", []string{"--addr", ":9"}, nil, func(s *Settings) { s.Addr = ":9" }},
		{"environment", nil, []string{"LISTEN_ADDR", ":9"}, func(s *Settings) { s.Addr = ":9" }},
		{"flag over environment", []string{"--addr=:9"}, []string{"LISTEN_ADDR", ":8"}, func(s *Settings) { s.Addr = ":9" }},
		{"flag over a bad environment", []string{"--index=pool"}, []string{"INDEX_SOURCE", "x"}, func(*Settings) {}},
		{"flag of the default over environment", []string{"--prefork"}, []string{"PREFORK", "0"}, func(*Settings) {}},
		{"empty environment", nil, []string{"PREFORK", ""}, func(*Settings) {}},
		{"prefork off", []string{"--prefork=false"}, nil, func(s *Settings) { s.Prefork = false }},
		{"prefork off by 0", nil, []string{"PREFORK", "0"}, func(s *Settings) { s.Prefork = false }},
		{"index", nil, []string{"INDEX_SOURCE", "gofakeit"}, func(s *Settings) { s.Index = "gofakeit" }},
		{"stack", []string{"--stack=net-http", "--prefork=false"}, nil,
			func(s *Settings) { s.Stack, s.Prefork = "net-http", false }},
		{"stack by environment", nil, []string{"STACK", "fasthttp", "PREFORK", "0"},
			func(s *Settings) { s.Stack, s.Prefork = "fasthttp", false }},
		{"pprof of a stack without prefork", []string{"--stack=fasthttp", "--pprof"}, nil,
			func(s *Settings) { s.Stack, s.Pprof, s.Prefork = "fasthttp", true, false }},
		{"buffer", []string{"--write-buffer=8192"}, []string{"WRITE_BUFFER", "512"},
			func(s *Settings) { s.WriteBuffer = 8192 }},
		{"tuning", []string{"--tuning=no-date,immutable"}, []string{"TUNING", "x"},
			func(s *Settings) { s.Tuning = "no-date,immutable" }},
		{"tuning by environment", nil, []string{"TUNING", "no-router"}, func(s *Settings) { s.Tuning = "no-router" }},
		{"spin", []string{"--spin-ns=500"}, []string{"SPIN_NS", "x"}, func(s *Settings) { s.SpinNs = 500 }},
		{"pprof turns prefork off", nil, []string{"PPROF_ENABLE", "1"},
			func(s *Settings) { s.Pprof, s.Prefork = true, false }},
		{"pprof over prefork", []string{"--pprof", "--prefork"}, nil, func(s *Settings) { s.Pprof, s.Prefork = true, false }},
		{"pprof on localhost", []string{"--pprof-addr=localhost:1"}, nil, func(s *Settings) { s.PprofAddr = "127.0.0.1:1" }},
		{"pprof on ::1", nil, []string{"PPROF_ADDR", "[::1]:1"}, func(s *Settings) { s.PprofAddr = "[::1]:1" }},
		{"sockets leave prefork on", []string{"--pprof-sockets=/d"}, nil, func(s *Settings) { s.PprofSockets = "/d" }},
		{"sockets by environment", []string{"--prefork=false", "--stack=net-http"}, []string{"PPROF_SOCKETS", "d/e"},
			func(s *Settings) { s.Prefork, s.Stack, s.PprofSockets = false, "net-http", "d/e" }},
		{"sockets turned off by an empty flag", []string{"--pprof-sockets="},
			[]string{"PPROF_SOCKETS", "/d", "PPROF_ENABLE", "0"}, func(*Settings) {}},
		{"mutex fraction", []string{"--mutex-fraction=1"}, []string{"MUTEX_FRACTION", "9"},
			func(s *Settings) { s.MutexFraction = 1 }},
		{"block rate", nil, []string{"BLOCK_RATE_NS", "10000"}, func(s *Settings) { s.BlockRateNs = 10000 }},
		{"port 0 alone", []string{"--addr=127.0.0.1:0", "--prefork=false"}, nil,
			func(s *Settings) { s.Addr, s.Prefork = "127.0.0.1:0", false }},
		{"GOMAXPROCS", nil, []string{"GOMAXPROCS", "128"}, func(*Settings) {}},
		{"version", []string{"--version"}, nil, func(s *Settings) { *s = Settings{Version: true} }},
	} {
		want := defaults
		tt.change(&want)
		if got, err := parseSettings(tt.args, env(tt.env...)); err != nil || got != want {
			t.Errorf("%s: got %+v (%v)\nwant %+v", tt.name, got, err, want)
		}
	}
}

func TestSettingsRefused(t *testing.T) {
	for _, tt := range []struct {
		args, env []string
		want      []string // what the line has to name
	}{
		{[]string{"--addr=8083"}, nil, []string{"--addr", `"8083"`, "HOST:PORT"}},
		{[]string{"--addr=:http"}, nil, []string{"--addr", "HOST:PORT"}},
		{[]string{"--addr=:65536"}, nil, []string{"--addr", "HOST:PORT"}},
		{[]string{"--addr=127.0.0.1:0"}, nil, []string{"--addr", "port 0", "--prefork=false"}},
		{nil, []string{"LISTEN_ADDR", "x"}, []string{"LISTEN_ADDR", `"x"`, "HOST:PORT"}},
		{[]string{"--prefork=yes"}, nil, []string{"--prefork", `"yes"`, "true or false"}},
		{nil, []string{"PREFORK", "T"}, []string{"PREFORK", "true or false"}},
		{[]string{"--prefork", "false"}, nil, []string{`"false"`, "--prefork=false"}},
		{[]string{"--stack=http"}, nil, []string{"--stack", `"http"`, "fiber, fasthttp or net-http"}},
		{[]string{"--stack=fasthttp"}, nil, []string{"--stack", "fasthttp", "--prefork=false"}},
		{[]string{"--prefork"}, []string{"STACK", "net-http"}, []string{"net-http", "--prefork=false"}},
		{[]string{"--stack=net-http", "--prefork=false", "--write-buffer=8192"}, nil,
			[]string{"--write-buffer", "net-http", "4096"}},
		{[]string{"--index=rand"}, nil, []string{"--index", `"rand"`, "pool or gofakeit"}},
		{nil, []string{"INDEX_SOURCE", "Pool"}, []string{"INDEX_SOURCE", "pool or gofakeit"}},
		{[]string{"--write-buffer=511"}, nil, []string{"--write-buffer", "512", "1048576"}},
		{[]string{"--write-buffer=1048577"}, nil, []string{"--write-buffer", "512", "1048576"}},
		{nil, []string{"WRITE_BUFFER", "4k"}, []string{"WRITE_BUFFER", `"4k"`, "bytes"}},
		{[]string{"--tuning=no-dates"}, nil, []string{"--tuning", `"no-dates"`, "in --help"}},
		{[]string{"--tuning=no-date,no-date"}, nil, []string{"--tuning", "each once"}},
		{nil, []string{"TUNING", "no-date,"}, []string{"TUNING", "commas"}},
		{[]string{"--tuning=no-date", "--stack=fasthttp", "--prefork=false"}, nil,
			[]string{"--tuning", "fasthttp", "--stack=fiber"}},
		{[]string{"--spin-ns=-1"}, nil, []string{"--spin-ns", `"-1"`, "nanoseconds"}},
		{nil, []string{"SPIN_NS", "1us"}, []string{"SPIN_NS", `"1us"`, "nanoseconds"}},
		{nil, []string{"PPROF_ENABLE", "on"}, []string{"PPROF_ENABLE", "true or false"}},
		{[]string{"--pprof-addr=:6060"}, nil, []string{"--pprof-addr", "loopback"}},
		{nil, []string{"PPROF_ADDR", "0.0.0.0:6060"}, []string{"PPROF_ADDR", "loopback"}},
		{[]string{"--pprof", "--pprof-sockets=/d"}, nil, []string{"--pprof-sockets", "--pprof,"}},
		{[]string{"--pprof-sockets=/d"}, []string{"PPROF_ENABLE", "1"}, []string{"--pprof-sockets", "--pprof,"}},
		{[]string{"--mutex-fraction=0"}, nil, []string{"--mutex-fraction", `"0"`, "from 1 to 1000000"}},
		{nil, []string{"MUTEX_FRACTION", "1/5"}, []string{"MUTEX_FRACTION", `"1/5"`, "whole number"}},
		{[]string{"--block-rate-ns=1000000001"}, nil, []string{"--block-rate-ns", "nanoseconds", "from 1 to 1000000000"}},
		{nil, []string{"BLOCK_RATE_NS", "1ms"}, []string{"BLOCK_RATE_NS", `"1ms"`, "nanoseconds"}},
		{nil, []string{"GOMAXPROCS", "0"}, []string{"GOMAXPROCS", "1 to 1024"}},
		{nil, []string{"GOMAXPROCS", "all"}, []string{"GOMAXPROCS", "1 to 1024"}},
		{[]string{"--workers=3"}, nil, []string{"-workers", "--help"}},
		{[]string{"serve"}, nil, []string{`"serve"`}},
	} {
		_, err := parseSettings(tt.args, env(tt.env...))
		if err == nil {
			t.Errorf("%q %q: accepted", tt.args, tt.env)
			continue
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%q %q: more than one line: %v", tt.args, tt.env, err)
		}
		for _, w := range tt.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%q %q: %q does not name %s", tt.args, tt.env, err, w)
			}
		}
	}
}

// Each setting accepts its own default.
func TestDefaultsAccepted(t *testing.T) {
	for _, st := range settings {
		var s Settings
		if !st.set(&s, st.def) {
			t.Errorf("--%s refuses its default %q", st.flag, st.def)
		}
	}
}

func TestHelp(t *testing.T) {
	if _, err := parseSettings([]string{"--help"}, env()); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("--help: %v", err)
	}
	var b bytes.Buffer
	writeHelp(&b)
	for _, st := range settings {
		for line := range strings.Lines(b.String()) {
			if strings.Contains(line, "--"+st.flag+"=") && strings.Contains(line, st.env) {
				goto found
			}
		}
		t.Errorf("no line of the help has both --%s and %s", st.flag, st.env)
	found:
	}
	if strings.Contains(b.String(), "default \n") {
		t.Error("the help shows an empty default")
	}
	if !strings.Contains(b.String(), "GOMAXPROCS") {
		t.Error("the help does not say what sets the number of workers")
	}
}
