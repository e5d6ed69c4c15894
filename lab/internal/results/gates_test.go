package results

import (
	"fmt"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

func design(t testing.TB) *experiment.Experiment {
	t.Helper()
	x, err := experiment.Load("../experiment/testdata/made-up.toml")
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestWhatATrialWasAskedFor(t *testing.T) {
	x := design(t)
	claimed := []string{"throughput_rps"}
	for _, c := range []struct {
		levels setting.Levels
		want   gate.Asked
	}{
		{setting.Levels{"connections": setting.Int(50), "pipelining": setting.Int(4), "workers": setting.Int(3),
			"prefork": setting.Bool(true)},
			gate.Asked{Generator: "autocannon", Connections: 50, Pipelining: 4, Workers: 3, WindowS: 2, ResolutionS: 0.001,
				Claimed: claimed}},
		// By default there is one worker on each of the server's cores.
		{setting.Levels{"connections": setting.Int(50), "generator": setting.String("fortio"), "rate": setting.Int(900),
			"overload": setting.Bool(true)},
			gate.Asked{Generator: "fortio", Connections: 50, Pipelining: 1, Rate: 900, Overload: true, Workers: 5, WindowS: 2,
				Claimed: claimed}},
		{setting.Levels{"connections": setting.Int(9), "generator": setting.String("fortio"), "prefork": setting.Bool(false),
			"workers": setting.Int(3)},
			gate.Asked{Generator: "fortio", Connections: 9, Pipelining: 1, WindowS: 2, Claimed: claimed}},
		{setting.Levels{"connections": setting.Int(9), "generator": setting.String("fortio"),
			"server": setting.String("null")},
			gate.Asked{Generator: "fortio", Connections: 9, Pipelining: 1, WindowS: 2, Claimed: claimed}},
		{setting.Levels{"generator": setting.String("sink"), "server": setting.String("producer"),
			"sink_errors_permille": setting.Int(5)},
			gate.Asked{Generator: "sink", Pipelining: 1, Refuses: true, WindowS: 2, Claimed: claimed}},
		// Nothing is in flight on a stream.
		{setting.Levels{"generator": setting.String("readers"), "server": setting.String("fanout"),
			"connections": setting.Int(9)}, gate.Asked{Generator: "readers", Connections: 9, WindowS: 2, Claimed: claimed}},
	} {
		if got := Asked(x, c.levels, 5, 2); fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", c.want) {
			t.Errorf("%v:\n%+v, want\n%+v", c.levels, got, c.want)
		}
	}
	turns := setting.Levels{"generator": setting.String("http_load"), "connections": setting.Int(9),
		"prefork": setting.Bool(false)}
	want := gate.Asked{Generator: "http_load", Connections: 9, Pipelining: 1, WindowS: 0.6, SlotS: 0.1,
		Claimed: []string{"server_cpu_per_request_s"}}
	if got := Asked(turning(t), turns, 5, 0.6); fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("in turns:\n%+v, want\n%+v", got, want)
	}
	if got := Asked(x, setting.Levels{}, 0, 2); got.Workers != 1 {
		t.Errorf("%d workers on a core that is shared", got.Workers)
	}
}
