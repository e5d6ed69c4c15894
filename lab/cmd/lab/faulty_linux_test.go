package main

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab"
)

// faultyServers, in the environment, makes this program a lab that holds a faulty file.
const faultyServers = "LAB_TEST_FAULTY_SERVERS"

func holdingFaulty() (status int) {
	lab.Servers = []byte("# one\n[servers.fiber]\ncommand = \"x {adr}\"\n")
	return command(context.Background(), []string{"check"}, os.Stdout, os.Stderr)
}

// A lab that was built with a faulty lab/servers.toml, as go build does, says so in one line at any call.
func TestALabWithAFaultyListOfServersSaysSo(t *testing.T) {
	again := exec.Command(os.Args[0])
	again.Env = append(os.Environ(), faultyServers+"=1")
	says, _ := again.CombinedOutput()
	if want := "lab: lab/servers.toml, line 2: servers.fiber: command: \"adr\": unknown; "; again.ProcessState.ExitCode() != exitFailed ||
		!strings.HasPrefix(string(says), want) || strings.Count(string(says), "\n") != 1 {
		t.Errorf("exit %d, %s", again.ProcessState.ExitCode(), says)
	}
}
