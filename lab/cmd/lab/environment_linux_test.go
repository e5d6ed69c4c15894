package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// Variables that the caller happens to have set must not change a figure: with another GOGC
// a request costs another time, and the results would not show it.
func TestTheCallersEnvironmentIsNoPartOfATrial(t *testing.T) {
	t.Parallel()
	c := newClone(t, loopback, "/read", 1, 60)
	tracer := filepath.Join(t.TempDir(), "sourced")
	c.env = []string{"GOGC=400", "GODEBUG=gctrace=1", "GOMAXPROCS=7",
		"GOMEMLIMIT=1GiB",
		"NODE_OPTIONS=--no-opt", "UV_THREADPOOL_SIZE=1", "BASH_ENV=" + tracer, "FIBER_SERVER=/nowhere"}
	if err := os.WriteFile(tracer, []byte("export GODEBUG=inittrace=1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd, end := c.underWay()
	// Variables that bash and the server's master add themselves.
	known := []string{"PATH", "LC_ALL", "PWD", "OLDPWD", "SHLVL", "_", "GOMAXPROCS", "FIBER_PREFORK_CHILD"}
	seen := map[string]bool{}
	for _, p := range c.processes() {
		f := strings.Fields(p)
		program := filepath.Base(f[1])
		if program == filepath.Base(labBinary) {
			continue
		}
		env, err := os.ReadFile("/proc/" + f[0] + "/environ")
		if err != nil {
			t.Fatal(err)
		}
		seen[program] = true
		for _, variable := range strings.Split(strings.TrimRight(string(env), "\x00"), "\x00") {
			name, value, _ := strings.Cut(variable, "=")
			if !slices.Contains(known, name) {
				t.Errorf("%s has %s", program, variable)
			}
			if name == "GOMAXPROCS" && value != "1" && value != "2" {
				t.Errorf("%s has %s, which is no level of the experiment", program, variable)
			}
		}
	}
	if !seen["fiber_server"] || !seen["node"] {
		t.Errorf("processes seen: %v", seen)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	end()
}

// The results file names each program by its digest.
func TestARunNamesItsPrograms(t *testing.T) {
	t.Parallel()
	c := newClone(t, loopback, "/read", 1, 1)
	c.edit("slot_s = 1", "slot_s = 0.2")
	c.run()
	p := c.only().Provenance
	for name, path := range map[string]string{"lab": labBinary, "fiber_server": serverBinary} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := p.Binaries[name].SHA256, fmt.Sprintf("%x", sha256.Sum256(text)); got != want {
			t.Errorf("%s has digest %q, want %s", name, got, want)
		}
	}
	if len(p.Binaries) != 4 || p.Binaries["node"].SHA256 == "" || p.Binaries["autocannon"].SHA256 == "" {
		t.Errorf("programs: %v", p.Binaries)
	}
}
