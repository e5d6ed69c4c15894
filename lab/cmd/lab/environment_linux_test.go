package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// What a caller happens to have set must not change a figure: WRITE_BUFFER nearly
// halves the server's time a request, and nothing in the results would say so.
func TestTheCallersEnvironmentIsNoPartOfATrial(t *testing.T) {
	t.Parallel()
	c := newClone(t, loopback, "/read", 1, 60)
	tracer := filepath.Join(t.TempDir(), "sourced")
	c.env = []string{"WRITE_BUFFER=65536", "SPIN_NS=20000", "GOGC=400", "GODEBUG=gctrace=1", "GOMAXPROCS=7", "GOMEMLIMIT=1GiB",
		"NODE_OPTIONS=--no-opt", "UV_THREADPOOL_SIZE=1", "BASH_ENV=" + tracer, "FIBER_SERVER=/nowhere"}
	if err := os.WriteFile(tracer, []byte("export SPIN_NS=30000\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd, out, errs := c.underWay()
	// What bash and the server's master add of their own.
	known := []string{"PATH", "LC_ALL", "PWD", "OLDPWD", "SHLVL", "_", "GOMAXPROCS", "FIBER_PREFORK_CHILD", "FIBER_SERVER_MASTER_PID", "FIBER_SERVER_GATE_FD"}
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
	wait(t, cmd, out, errs)
}
