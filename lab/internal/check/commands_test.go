package check

import (
	"testing"

	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

func TestALoadsOptionsAreItsConditions(t *testing.T) {
	// The options behind --command are the server's own.
	s := setting.Levels{"connections": setting.Int(100)}
	f := &results.File{Provenance: &results.Provenance{}, Settings: s,
		Conditions: []results.Condition{{Commands: []string{"lab/scripts/server.sh --command -- ./x --connections 5",
			"lab/scripts/trial.sh --connections 100"}}}}
	if err := (&file{File: f}).checkCommands(); err != nil {
		t.Error(err)
	}
	f.Conditions[0].Commands[1] = "lab/scripts/trial.sh --connections 5"
	if (&file{File: f}).checkCommands() == nil {
		t.Error("a load's connections are not compared")
	}
}
