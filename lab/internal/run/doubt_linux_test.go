package run

import (
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
	httpload "github.com/line-rate/line-rate/lab/load"
)

// twice doubles the requests that a client reports, and with bytes and latencies also those.
func twice(bytes, latencies bool) func(*httpload.Line) {
	return func(l *httpload.Line) {
		if l.Slot != nil {
			l.Slot.Requests *= 2
			if bytes {
				l.Slot.Bytes *= 2
			}
		}
		if l.Summary == nil {
			return
		}
		for i := range l.Summary.Targets {
			t := &l.Summary.Targets[i]
			t.Requests *= 2
			if bytes {
				t.Bytes *= 2
			}
			if latencies {
				t.Histogram.Merge(t.Histogram)
				t.Latency = t.Histogram.Latency()
			}
		}
	}
}

func aTenth(l *httpload.Line) {
	if l.Slot != nil {
		l.Slot.ClientCPUS /= 10
	}
}

// A client that reports what cannot be is named, and its trials are invalid. TestARunOfTwoClients has
// honest ones at a rate.
func TestReportsThatCannotBe(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	t.Cleanup(func() { p.nothingRuns(t) })
	loop := fleetBlock
	loop.settings = strings.Replace(loop.settings, "\nrate = 400", "", 1)
	for name, c := range map[string]struct {
		block  design
		lies   func(*httpload.Line)
		closes string
		says   string
	}{
		"an honest client, in a closed loop": {loop, nil, "", ""},
		"requests":                           {fleetBlock, twice(false, false), gate.WrongAnswer, "answers came to"},
		"requests and bytes":                 {fleetBlock, twice(true, false), gate.Misreport, "were due"},
		"requests, bytes and latencies": {fleetBlock, twice(true, true), gate.Misreport,
			"due in its slots, and its latencies are of"},
		"requests and bytes, in a closed loop": {loop, twice(true, false), gate.Misreport,
			"its slots, and its latencies are of"},
		"a tenth of the CPU, in a closed loop": {loop, aTenth, gate.Misreport, "its host saw it use"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// A client that came late to a slot is told of that instead: on a busy machine perhaps to each.
			told, file := false, (*results.File)(nil)
			for try := 0; try < 3 && !told; try++ {
				f := newFleet(p, 2)
				f.clients[1].lies = c.lies
				made, err := Do(t.Context(), p.onFleet(c.block, f), &watching{})
				if err != nil {
					t.Fatal(err)
				}
				told, file = c.closes == "", made.File
				for _, one := range file.Trials {
					told = told || slices.ContainsFunc(one.Reasons, func(r results.Reason) bool {
						return r.Gate == c.closes && strings.HasPrefix(r.Detail, "client 2: ") && strings.Contains(r.Detail, c.says)
					})
					if c.closes != "" && one.Valid || c.closes == "" && closed(one, gate.Misreport, gate.WrongAnswer) {
						t.Errorf("%s: %q", one.Condition, one.Reasons)
					}
				}
			}
			if !told {
				t.Errorf("no trial is invalid by %s: %+v", c.closes, file.Trials)
			}
		})
	}
}
