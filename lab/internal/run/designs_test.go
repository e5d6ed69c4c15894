package run

import (
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// A design is an experiment's file in parts. Parts left out are those of the
// smallest design, which compares two routes.
type design struct {
	topology, settings, block string
	factor                    string // the factor, followed by its levels
	levels                    string
	more                      string // whole tables
}

func (d design) parse(t *testing.T) *experiment.Experiment {
	t.Helper()
	or := func(said, otherwise string) string {
		if said == "" {
			return otherwise
		}
		return said
	}
	factor := or(d.factor, "route")
	x, err := experiment.Parse("x", []byte(strings.Join([]string{
		`entry = "1"`, `title = "t"`, `question = "q"`, `metrics = ["throughput_rps"]`, "budget_s = 600",
		"[topology]", or(d.topology, `kind = "loopback"`),
		"[settings]", or(d.settings, "generator = \"http_load\"\nconnections = 4\nprefork = false"),
		"[[factors]]", `name = "` + factor + `"`, "levels = " + or(d.levels, `["/read", "/simple"]`),
		"[block]", or(d.block, "slot_s = 0.05\nrounds = 2\nwarmup_s = 0.05"),
		"[[claims]]", `id = "c"`, `kind = "flat"`, `text = "t"`, `metric = "throughput_rps"`, `over = "` + factor + `"`,
		"margin = 0.1", `why = "w"`,
		d.more,
	}, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func text(s string) setting.Level  { return setting.String(s) }
func whole(n int64) setting.Level  { return setting.Int(n) }
func either(on bool) setting.Level { return setting.Bool(on) }
