package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab"
)

// faultyServers, in the environment, is a call that this program makes of a lab that holds
// a faulty file.
const faultyServers = "LAB_TEST_FAULTY_SERVERS"

func holdingFaulty(call string) (status int) {
	lab.Servers = []byte("# one\n[servers.fiber]\ncommand = \"x {adr}\"\n")
	return command(context.Background(), strings.Fields(call), os.Stdout, os.Stderr)
}

// A lab that was built with a faulty lab/servers.toml, as go build does, says so in one
// line at any call.
func TestALabWithAFaultyListOfServersSaysSo(t *testing.T) {
	for _, call := range []string{"check", "doctor", ""} {
		again := exec.Command(os.Args[0])
		again.Env = append(os.Environ(), faultyServers+"="+call)
		var errs bytes.Buffer
		again.Stderr = &errs
		_ = again.Run()
		if want := "lab: lab/servers.toml, line 2: servers.fiber: command: \"adr\": unknown; "; again.ProcessState.ExitCode() != exitFailed ||
			!strings.HasPrefix(errs.String(), want) || strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("lab %s: exit %d, %s", call, again.ProcessState.ExitCode(), errs.String())
		}
	}
}
