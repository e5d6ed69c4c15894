package pages

import (
	"encoding/json"
	"math"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// Values are settings and other chosen numbers as pages print them, by their names in
// the file that has them.
type Values map[string]string

// number adds a number, but none that the file leaves out.
func (v Values) number(name string, n float64) {
	if n != 0 {
		v[name] = amount(name, n)
	}
}

// cell is a setting's level as pages print it, with a unit if its name has one.
func cell(name string, l setting.Level) string {
	if n, ok := l.Int(); ok {
		return amount(name, float64(n))
	}
	return setting.LevelCell(l)
}

// amount is a number whose name ends with its unit, in the unit that suits it: 500 Mbit/s
// of a line_rate_bps.
func amount(name string, v float64) string {
	for end, unit := range map[string]string{"_bps": "bit/s", "_bytes": "B", "_s": "s"} {
		if strings.HasSuffix(name, end) {
			return words.Figure(unit, v, nil, nil)
		}
	}
	if v == math.Floor(v) {
		return words.Grouped(v, 0)
	}
	return words.Number(v)
}

// chosen prints a number that somebody chose: one below 1 is a share.
func chosen(v float64) string {
	switch {
	case v < 1:
		return words.Percent(v)
	case v == math.Floor(v):
		return words.Grouped(v, 0)
	}
	return words.Number(v)
}

// ValuesOf are those of what a table of a text says alike of every row.
func ValuesOf(settings setting.Levels, lineRateBps float64) Values {
	v := Values{}
	for name, l := range settings {
		v[name] = cell(name, l)
	}
	v.number("line_rate_bps", lineRateBps)
	return v
}

// designValues are those of an experiment, by their keys in its file: levels.workers,
// settings.route, topology.line_rate_bps, block.slot_s.
func designValues(x *experiment.Experiment) Values {
	v := Values{}
	for name, l := range x.Fixed() {
		v["settings."+name] = cell(name, l)
	}
	for _, f := range x.Factors {
		v["levels."+f.Name] = words.List(strict.Map(f.All(), setting.LevelCell))
	}
	v.number("topology.line_rate_bps", x.Topology.LineRateBps)
	v.number("topology.burst_bytes", float64(x.Topology.BurstBytes))
	v.number("topology.queue_s", x.Topology.QueueS)
	v.number("block.slot_s", x.Block.SlotS)
	v.number("block.rounds", float64(x.Block.Rounds))
	v.number("block.warmup_s", x.Block.WarmupS)
	return v
}

// numbersOf are the numbers of a value's JSON.
func numbersOf(of any) Values {
	text, err := json.Marshal(of)
	if err != nil {
		panic(err) // it is part of the program
	}
	var all map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		panic(err)
	}
	v := Values{}
	for name, n := range all {
		if n, ok := n.(float64); ok {
			v[name] = chosen(n)
		}
	}
	return v
}
