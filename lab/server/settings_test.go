package main

import (
	"strings"
	"testing"
)

func TestSettings(t *testing.T) {
	for args, change := range map[string]func(*settings){
		"":                                 func(*settings) {},
		"--addr :9":                        func(s *settings) { s.addr = ":9" },
		"--prefork=0 --prefork":            func(*settings) {},
		"--stack=net-http --prefork=false": func(s *settings) { s.stack, s.prefork = "net-http", false },
		"--stack=fasthttp --pprof":         func(s *settings) { s.stack, s.pprof, s.prefork = "fasthttp", true, false },
		"--tuning=no-date,immutable":       func(s *settings) { s.tunings = "no-date,immutable" },
		"--index=gofakeit --spin-ns=500":   func(s *settings) { s.index, s.spinNs = "gofakeit", 500 },
		"--pprof --prefork":                func(s *settings) { s.pprof, s.prefork = true, false },
		"--pprof-addr=localhost:1":         func(s *settings) { s.pprofAddr = "127.0.0.1:1" },
		"--mutex-fraction=1 --block-rate-ns=10000 --write-buffer=8192": func(s *settings) {
			s.mutexFraction, s.blockRateNs, s.writeBuffer = 1, 10000, 8192
		},
		"--addr=127.0.0.1:0 --prefork=false": func(s *settings) { s.addr, s.prefork = "127.0.0.1:0", false },
	} {
		want := defaults()
		change(&want)
		if got, err := parse(strings.Fields(args), "128"); err != nil || got != want {
			t.Errorf("%q: got %+v (%v)\nwant %+v", args, got, err, want)
		}
	}
}

// Each is one line that names the flag and what it takes.
func TestSettingsRefused(t *testing.T) {
	for args, says := range map[string]string{
		"--addr=8083":        `--addr: "8083" is not accepted; give HOST:PORT`,
		"--addr=127.0.0.1:0": "--addr: port 0 needs --prefork=false",
		"--prefork=yes":      `"yes" for -prefork`,
		"--prefork false":    `unexpected argument "false"; a value is joined with =, as in --prefork=false`,
		"--stack=http":       "-stack: give fiber or fasthttp or net-http",
		"--stack=fasthttp":   "--stack: fasthttp has no prefork; give --prefork=false",
		"--stack=net-http --prefork=false --write-buffer=8192": "--write-buffer: net-http has one of 4096 bytes",
		"--write-buffer=4k": `"4k" for flag -write-buffer: give a whole number from 512 to 1048576`,
		"--tuning=no-dates": `"no-dates" for flag -tuning: give names from its list of tunings`,
		"--tuning=no-date,": "joined by commas; see --help",
		"--tuning=no-date --stack=fasthttp --prefork=false": "--tuning: fasthttp has none; give --stack=fiber",
		"--spin-ns=-1":                            "-spin-ns: give a whole number from 0",
		"--pprof-addr=:6060":                      "loopback",
		"--pprof --pprof-sockets=" + socketDir(t): "--pprof-sockets: not with --pprof, ",
		"--mutex-fraction=0":                      "-mutex-fraction: give a whole number from 1 to 1000000",
		"--block-rate-ns=1000000001":              "-block-rate-ns: give a whole number from 1 to 1000000000",
		"--workers=3":                             "not defined: -workers; see --help",
	} {
		_, err := parse(strings.Fields(args), "")
		if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %s", args, err, says)
		}
	}
	for _, workers := range []string{"0", "all", "1025"} {
		if _, err := parse(nil, workers); err == nil || !strings.Contains(err.Error(), "1 to 1024") {
			t.Errorf("GOMAXPROCS=%s: %v", workers, err)
		}
	}
}
