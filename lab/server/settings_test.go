package main

import (
	"strings"
	"testing"
)

func TestSettings(t *testing.T) {
	for _, tt := range []struct {
		args   []string
		change func(*settings)
	}{
		{nil, func(*settings) {}},
		{[]string{"--addr=:9"}, func(s *settings) { s.addr = ":9" }},
		{[]string{"--addr", ":9"}, func(s *settings) { s.addr = ":9" }},
		{[]string{"--prefork=0", "--prefork"}, func(*settings) {}},
		{[]string{"--prefork=false"}, func(s *settings) { s.prefork = false }},
		{[]string{"--index=gofakeit"}, func(s *settings) { s.index = "gofakeit" }},
		{[]string{"--stack=net-http", "--prefork=false"}, func(s *settings) { s.stack, s.prefork = "net-http", false }},
		{[]string{"--stack=fasthttp", "--pprof"},
			func(s *settings) { s.stack, s.pprof, s.prefork = "fasthttp", true, false }},
		{[]string{"--write-buffer=8192"}, func(s *settings) { s.writeBuffer = 8192 }},
		{[]string{"--tuning=no-date,immutable"}, func(s *settings) { s.tunings = "no-date,immutable" }},
		{[]string{"--spin-ns=500"}, func(s *settings) { s.spinNs = 500 }},
		{[]string{"--pprof", "--prefork"}, func(s *settings) { s.pprof, s.prefork = true, false }},
		{[]string{"--pprof-addr=localhost:1"}, func(s *settings) { s.pprofAddr = "127.0.0.1:1" }},
		{[]string{"--pprof-addr=[::1]:1"}, func(s *settings) { s.pprofAddr = "[::1]:1" }},
		{[]string{"--pprof-sockets="}, func(*settings) {}},
		{[]string{"--mutex-fraction=1"}, func(s *settings) { s.mutexFraction = 1 }},
		{[]string{"--block-rate-ns=10000"}, func(s *settings) { s.blockRateNs = 10000 }},
		{[]string{"--addr=127.0.0.1:0", "--prefork=false"},
			func(s *settings) { s.addr, s.prefork = "127.0.0.1:0", false }},
	} {
		want := defaults()
		tt.change(&want)
		if got, err := parse(tt.args, "128"); err != nil || got != want {
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
		{[]string{"--addr=127.0.0.1:0"}, []string{"--addr", "port 0", "--prefork=false"}},
		{[]string{"--prefork=yes"}, []string{"-prefork", `"yes"`}},
		{[]string{"--prefork", "false"}, []string{`"false"`, "--prefork=false"}},
		{[]string{"--stack=http"}, []string{"-stack", `"http"`, "fiber or fasthttp or net-http"}},
		{[]string{"--stack=fasthttp"}, []string{"--stack", "fasthttp", "--prefork=false"}},
		{[]string{"--stack=net-http", "--prefork=false", "--write-buffer=8192"},
			[]string{"--write-buffer", "net-http", "4096"}},
		{[]string{"--index=Pool"}, []string{"-index", `"Pool"`, "pool or gofakeit"}},
		{[]string{"--write-buffer=511"}, []string{"-write-buffer", "512", "1048576"}},
		{[]string{"--write-buffer=4k"}, []string{"-write-buffer", `"4k"`, "512"}},
		{[]string{"--tuning=no-dates"}, []string{"-tuning", `"no-dates"`, "in --help"}},
		{[]string{"--tuning=no-date,"}, []string{"-tuning", "commas"}},
		{[]string{"--tuning=no-date", "--stack=fasthttp", "--prefork=false"},
			[]string{"--tuning", "fasthttp", "--stack=fiber"}},
		{[]string{"--spin-ns=-1"}, []string{"-spin-ns", `"-1"`, "from 0"}},
		{[]string{"--spin-ns=1us"}, []string{"-spin-ns", `"1us"`, "from 0"}},
		{[]string{"--pprof-addr=:6060"}, []string{"-pprof-addr", "loopback"}},
		{[]string{"--pprof", "--pprof-sockets=" + socketDir(t)}, []string{"--pprof-sockets", "--pprof,"}},
		{[]string{"--mutex-fraction=0"}, []string{"-mutex-fraction", `"0"`, "from 1 to 1000000"}},
		{[]string{"--block-rate-ns=1000000001"}, []string{"-block-rate-ns", "from 1 to 1000000000"}},
		{[]string{"--workers=3"}, []string{"-workers", "--help"}},
		{[]string{"serve"}, []string{`"serve"`}},
	} {
		_, err := parse(tt.args, "")
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
		if _, err := parse(nil, workers); err == nil || !strings.Contains(err.Error(), "1 to 1024") {
			t.Errorf("GOMAXPROCS=%s: %v", workers, err)
		}
	}
}
