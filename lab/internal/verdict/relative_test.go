package verdict

import (
	"fmt"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// asking is a design that asks for a table of what a request costs, over two workers.
func asking(t *testing.T) *experiment.Experiment {
	t.Helper()
	x, err := experiment.Parse("made-up", []byte(`
entry = "7"
title = "t"
question = "q"
metrics = ["server_cpu_per_request_s"]
budget_s = 60
topology = { kind = "loopback" }
settings = { route = "/read", connections = 100 }
factors = [{ name = "workers", levels = [1, 2, 4] }]
block = { slot_s = 0.1, rounds = 1, warmup_s = 0.1 }
relative = { metric = "server_cpu_per_request_s", over = "workers", to = 2 }
claims = [`+flatCost+`]
`))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func said(r *Relative) string {
	var rows []string
	for _, row := range r.Rows {
		if row.Base {
			rows = append(rows, row.Level+" base")
		} else {
			rows = append(rows, fmt.Sprintf("%s %s (%s) of %d", row.Level, row.Text, row.Interval, row.Pairs))
		}
	}
	return strings.Join(rows, "; ")
}

// A request costs two workers 1, one half of that, and four between 2.9 and 3.1 times as
// much. The table is of all runs of the design, as the claims are: with eight blocks the
// interval is from the least to the greatest.
func TestATableRelativeToOneLevel(t *testing.T) {
	x := asking(t)
	of := func(day int, four ...float64) Run {
		return Run{onDay(madeUp(x, 4, func(ls setting.Levels, b int) values {
			n, _ := ls[setting.Workers].Int()
			v := map[int64]float64{1: 0.5, 2: 1, 4: four[b-1]}[n]
			return values{cost: speed(b) * v, rps: 1}
		}), day), x}
	}
	runs := []Run{of(0, 2.9, 2.95, 3, 3), of(1, 3, 3, 3.05, 3.1)}
	got := Decide(x, machine, runs).Relative
	if got == nil {
		t.Fatal("there is no table")
	}
	if want := "1 0.500 (0.500 to 0.500) of 8; 2 base; 4 3.00 (2.90 to 3.10) of 8"; said(
		got) != want || got.To != "2" {
		t.Errorf("%s\nwant %s", said(got), want)
	}

	// The base's trial of a block is invalid, and so is all that one worker did.
	for day, run := range runs {
		for i := range run.File.Trials {
			t := &run.File.Trials[i]
			t.Valid = t.Condition != "c1" && (t.Condition != "c2" || day > 0 || t.Block != 3)
		}
	}
	if got, want := said(Decide(x, machine, runs).Relative), "2 base; 4 3.00 (2.90 to 3.10) of 7"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
