package run

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/check"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// lacking compares servers of the test's own, of which those named need a tool that no
// machine has.
func lacking(t *testing.T, absent ...string) *experiment.Experiment {
	t.Helper()
	more := ""
	for _, name := range []string{"first", "second", "third"} {
		more += fmt.Sprintf("[servers.%s]\ncommand = \"%s {addr} plain\"\nenv = { %s = \"{addr}\" }\n", name, os.Args[0],
			foreign)
		for _, a := range absent {
			if a == name {
				more += "needs = [\"a-tool-of-nowhere\"]\n"
			}
		}
	}
	return design{settings: "generator = \"http_load\"\nconnections = 4\nroute = \"/any/path\"", factor: "server",
		levels: `["first", "second", "third"]`, more: more}.parse(t)
}

// A machine that lacks one of three servers measures the two others, in a file that says
// so and passes Check.
func TestARunLeavesOutAServerThatIsNotThere(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	x := lacking(t, "second")
	plan := p.plan(x)
	if err := plan.Ready(); err != nil {
		t.Fatal(err)
	}
	r := p.start(x)
	p.block(r)
	f := r.File
	f.Provenance.Ended = results.Budget
	left := f.Provenance.LeftOut
	if len(left) != 1 || left[0].Levels[setting.Server] != setting.String("second") ||
		!strings.Contains(left[0].Why, "a-tool-of-nowhere") {
		t.Errorf("left out: %v", left)
	}
	var servers []string
	for _, c := range f.Conditions {
		if c.ControlOf == "" {
			servers = append(servers, c.Levels[setting.Server].String())
		}
	}
	if got := strings.Join(servers, " "); got != "first third" {
		t.Errorf("measured %s", got)
	}
	if err := check.File(f, x); err != nil {
		t.Error(err)
	}
}
