package verdict

import (
	"fmt"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
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
			rows = append(rows, fmt.Sprintf("%s base %v", row.Level, row.Walls))
		} else {
			rows = append(rows, fmt.Sprintf("%s %s (%s) of %d %v", row.Level, row.Text, row.Interval, row.Pairs, row.Walls))
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
	bounded(&runs[0].File.Trials[0], gate.BoundClientCPU)
	got := Decide(x, machine, runs).Relative
	if got == nil {
		t.Fatal("there is no table")
	}
	if want := "1 0.500 (0.500 to 0.500) of 8 server-cpu 7, client-cpu 1; 2 base ; 4 3.00 (2.90 to 3.10) of 8 "; said(
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
	if got, want := said(Decide(x, machine, runs).Relative), "2 base ; 4 3.00 (2.90 to 3.10) of 7 "; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// A request costs three times as much, of which half is the client's; of the base's cost a
// quarter is. The server's own work is then 1.5 over 0.75, so twice as much.
func TestTheClientsPartIsTakenOut(t *testing.T) {
	x := asking(t)
	r := madeUp(x, 8, func(ls setting.Levels, b int) values {
		n, _ := ls[setting.Workers].Int()
		m := values{cost: speed(b) * map[int64]float64{1: 1, 2: 1, 4: 3}[n], rps: 1}
		if b == 1 && n > 1 { // only the run's first block is gauged, and one server could not be
			m[receiveShare] = map[int64]float64{2: 0.25, 4: 0.5}[n]
		}
		return m
	})
	own := func() (all []string) {
		for _, row := range Decide(x, machine, []Run{{r, x}}).Relative.Rows {
			all = append(all, row.Level+" "+row.ClientText+" "+row.OwnText)
		}
		return all
	}
	if got := strings.Join(own(), ";"); got != "1  ;2  ;4  " {
		t.Errorf("a design that does not ask for it has %s", got)
	}
	x.Relative.OwnWork = true
	if got, want := strings.Join(own(), ";"), "1  ;2 25 % ;4 50 % 2.00"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
