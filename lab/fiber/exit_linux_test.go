package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/program/programtest"
)

func TestAddressInUse(t *testing.T) {
	for _, first := range []string{"--prefork=true", "--prefork=false"} {
		for _, second := range []string{"--prefork=true", "--prefork=false"} {
			p := start(t, freeAddr(t), first)
			p.readLines(map[string]int{"--prefork=true": 3, "--prefork=false": 1}[first], " listening ")
			other := start(t, p.addr, second)
			if code := other.exitCode(); code != 3 {
				t.Errorf("%s after %s: exit code %d, want 3", second, first, code)
			}
			want := "fiber_server: " + p.addr + " is already in use; stop the other server or choose another with --addr"
			if len(other.all) != 1 || other.all[0] != want {
				t.Errorf("%s after %s: stderr:\n%s\nwant %q", second, first, strings.Join(other.all, "\n"), want)
			}
			p.health() // the first server still answers
		}
	}
}

func TestAddressNotOurs(t *testing.T) {
	// 192.0.2.0/24 is for documentation: no interface has it.
	p := start(t, "192.0.2.1:8083")
	if code := p.exitCode(); code != 1 || len(p.all) != 1 || !strings.Contains(p.all[0], "--addr") {
		t.Errorf("exit code %d, stderr:\n%s", code, strings.Join(p.all, "\n"))
	}
}

func TestRefusedSetting(t *testing.T) {
	p := start(t, freeAddr(t), "--index=dice")
	want := `fiber_server: invalid value "dice" for flag -index: give pool or gofakeit; see --help`
	if code := p.exitCode(); code != 2 || len(p.all) != 1 || p.all[0] != want {
		t.Errorf("exit code %d, stderr:\n%s\nwant 2 and %q", code, strings.Join(p.all, "\n"), want)
	}
}

func TestWorkerWithoutMaster(t *testing.T) {
	cmd := exec.Command(programtest.Path("fiber_server"), "--addr="+freeAddr(t))
	cmd.Env = append(os.Environ(), "FIBER_PREFORK_CHILD=1")
	out, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != 1 || strings.Count(string(out), "FIBER_PREFORK_CHILD") != 1 {
		t.Errorf("exit code %d, stderr:\n%s", code, out)
	}
}
