package main

import (
	"errors"
	"flag"
	"strings"
	"testing"
)

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
		args   []string
		change func(*Settings)
	}{
		{nil, func(*Settings) {}},
		{[]string{"--addr=:9"}, func(s *Settings) { s.Addr = ":9" }},
		{[]string{"--addr", ":9"}, func(s *Settings) { s.Addr = ":9" }},
		{[]string{"--prefork=0", "--prefork"}, func(*Settings) {}},
		{[]string{"--prefork=false"}, func(s *Settings) { s.Prefork = false }},
		{[]string{"--index=gofakeit"}, func(s *Settings) { s.Index = "gofakeit" }},
		{[]string{"--stack=net-http", "--prefork=false"}, func(s *Settings) { s.Stack, s.Prefork = "net-http", false }},
		{[]string{"--stack=fasthttp", "--pprof"},
			func(s *Settings) { s.Stack, s.Pprof, s.Prefork = "fasthttp", true, false }},
		{[]string{"--write-buffer=8192"}, func(s *Settings) { s.WriteBuffer = 8192 }},
		{[]string{"--tuning=no-date,immutable"}, func(s *Settings) { s.Tuning = "no-date,immutable" }},
		{[]string{"--spin-ns=500"}, func(s *Settings) { s.SpinNs = 500 }},
		{[]string{"--pprof", "--prefork"}, func(s *Settings) { s.Pprof, s.Prefork = true, false }},
		{[]string{"--pprof-addr=localhost:1"}, func(s *Settings) { s.PprofAddr = "127.0.0.1:1" }},
		{[]string{"--pprof-addr=[::1]:1"}, func(s *Settings) { s.PprofAddr = "[::1]:1" }},
		{[]string{"--pprof-sockets=/d"}, func(s *Settings) { s.PprofSockets = "/d" }},
		{[]string{"--pprof-sockets="}, func(*Settings) {}},
		{[]string{"--mutex-fraction=1"}, func(s *Settings) { s.MutexFraction = 1 }},
		{[]string{"--block-rate-ns=10000"}, func(s *Settings) { s.BlockRateNs = 10000 }},
		{[]string{"--addr=127.0.0.1:0", "--prefork=false"},
			func(s *Settings) { s.Addr, s.Prefork = "127.0.0.1:0", false }},
		{[]string{"--version"}, func(s *Settings) { s.Version = true }},
	} {
		want := defaults
		tt.change(&want)
		if got, err := parseSettings(tt.args, "128"); err != nil || got != want {
			t.Errorf("%q: got %+v (%v)\nwant %+v", tt.args, got, err, want)
		}
	}
}

func TestSettingsRefused(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want []string // what the line has to name
	}{
		{[]string{"--addr=8083"}, []string{"-addr", `"8083"`, "HOST:PORT"}},
		{[]string{"--addr=:http"}, []string{"-addr", "HOST:PORT"}},
		{[]string{"--addr=:65536"}, []string{"-addr", "HOST:PORT"}},
		{[]string{"--addr=127.0.0.1:0"}, []string{"--addr", "port 0", "--prefork=false"}},
		{[]string{"--prefork=yes"}, []string{"-prefork", `"yes"`, "true or false"}},
		{[]string{"--prefork=T"}, []string{"-prefork", "true or false"}},
		{[]string{"--prefork", "false"}, []string{`"false"`, "--prefork=false"}},
		{[]string{"--stack=http"}, []string{"-stack", `"http"`, "fiber, fasthttp or net-http"}},
		{[]string{"--stack=fasthttp"}, []string{"--stack", "fasthttp", "--prefork=false"}},
		{[]string{"--stack=net-http", "--prefork=false", "--write-buffer=8192"},
			[]string{"--write-buffer", "net-http", "4096"}},
		{[]string{"--index=Pool"}, []string{"-index", `"Pool"`, "pool or gofakeit"}},
		{[]string{"--write-buffer=511"}, []string{"-write-buffer", "512", "1048576"}},
		{[]string{"--write-buffer=1048577"}, []string{"-write-buffer", "512", "1048576"}},
		{[]string{"--write-buffer=4k"}, []string{"-write-buffer", `"4k"`, "bytes"}},
		{[]string{"--tuning=no-dates"}, []string{"-tuning", `"no-dates"`, "in --help"}},
		{[]string{"--tuning=no-date,no-date"}, []string{"-tuning", "each once"}},
		{[]string{"--tuning=no-date,"}, []string{"-tuning", "commas"}},
		{[]string{"--tuning=no-date", "--stack=fasthttp", "--prefork=false"},
			[]string{"--tuning", "fasthttp", "--stack=fiber"}},
		{[]string{"--spin-ns=-1"}, []string{"-spin-ns", `"-1"`, "nanoseconds"}},
		{[]string{"--spin-ns=1us"}, []string{"-spin-ns", `"1us"`, "nanoseconds"}},
		{[]string{"--pprof=on"}, []string{"-pprof", "true or false"}},
		{[]string{"--pprof-addr=:6060"}, []string{"-pprof-addr", "loopback"}},
		{[]string{"--pprof-addr=0.0.0.0:6060"}, []string{"-pprof-addr", "loopback"}},
		{[]string{"--pprof", "--pprof-sockets=/d"}, []string{"--pprof-sockets", "--pprof,"}},
		{[]string{"--mutex-fraction=0"}, []string{"-mutex-fraction", `"0"`, "from 1 to 1000000"}},
		{[]string{"--mutex-fraction=1/5"}, []string{"-mutex-fraction", `"1/5"`, "whole number"}},
		{[]string{"--block-rate-ns=1000000001"}, []string{"-block-rate-ns", "nanoseconds", "from 1 to 1000000000"}},
		{[]string{"--workers=3"}, []string{"-workers", "--help"}},
		{[]string{"serve"}, []string{`"serve"`}},
	} {
		_, err := parseSettings(tt.args, "")
		if err == nil {
			t.Errorf("%q: accepted", tt.args)
			continue
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: more than one line: %v", tt.args, err)
		}
		for _, w := range tt.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%q: %q does not name %s", tt.args, err, w)
			}
		}
	}
	for _, workers := range []string{"0", "all", "1025"} {
		if _, err := parseSettings(nil, workers); err == nil || !strings.Contains(err.Error(), "1 to 1024") {
			t.Errorf("GOMAXPROCS=%s: %v", workers, err)
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
	if _, err := parseSettings([]string{"--help"}, ""); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("--help: %v", err)
	}
	text := help()
	for _, st := range settings {
		if !strings.Contains(text, "  --"+st.flag+"="+st.value+"\n        "+st.about) {
			t.Errorf("the help does not have --%s", st.flag)
		}
	}
	if strings.Contains(text, "default \n") || !strings.Contains(text, "GOMAXPROCS") {
		t.Errorf("an empty default, or nothing about the number of workers:\n%s", text)
	}
}
