package profile

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	pprof "github.com/google/pprof/profile"
)

// made makes a profile of a kind from stacks, caller first, with their values.
func made(types string, samples map[string][]int64) *pprof.Profile {
	p := &pprof.Profile{DurationNanos: 3_001_000_000}
	for _, t := range strings.Fields(types) {
		name, unit, _ := strings.Cut(t, "/")
		p.SampleType = append(p.SampleType, &pprof.ValueType{Type: name, Unit: unit})
	}
	for _, stack := range slices.Sorted(maps.Keys(samples)) {
		s := &pprof.Sample{Value: samples[stack]}
		for _, name := range strings.Fields(stack) {
			f := &pprof.Function{ID: uint64(len(p.Function) + 1), Name: name}
			l := &pprof.Location{ID: f.ID, Line: []pprof.Line{{Function: f}}}
			p.Function, p.Location = append(p.Function, f), append(p.Location, l)
			s.Location = append([]*pprof.Location{l}, s.Location...)
		}
		p.Sample = append(p.Sample, s)
	}
	return p
}

const delays = "contentions/count delay/nanoseconds"

func TestAnalyse(t *testing.T) {
	for _, c := range []struct {
		name string
		kind Kind
		p    *pprof.Profile
		want Profile
	}{
		{"a lock that waits, and the profiler itself", Block, made(delays, map[string][]int64{
			"main.run github.com/brianvoe/gofakeit/v7.Number github.com/brianvoe/gofakeit/v7.intN sync.(*Mutex).Lock": {30, 1e9},
			"net/http.(*conn).serve net/http/pprof.Profile runtime.selectgo":                                          {1, 2e9},
			"main.gone": {0, 0},
		}), Profile{
			Kind: "block", Unit: "s", Total: 3, Events: 31, Stacks: 2, DurationS: 3.001,
			Work: map[string]float64{"lock": 0.333333333, "profiler": 0.666666667},
			Packages: map[string]float64{
				Repository: 0.333333333, "github.com/brianvoe/gofakeit": 0.333333333, "sync": 0.333333333,
				"net/http": 0.666666667, "net/http/pprof": 0.666666667, "runtime": 0.666666667,
			},
		}},
		{"CPU", CPU, made("samples/count cpu/nanoseconds", map[string][]int64{
			"net.(*conn).Write syscall.write": {42, 420e6}, "runtime.mcall runtime.schedule": {57, 570e6}, "main.f": {1, 10e6},
		}), Profile{
			Kind: "cpu", Unit: "s", Total: 1, Events: 100, Stacks: 3, DurationS: 3.001,
			Work:     map[string]float64{"write": 0.42, "scheduler": 0.57, "handler": 0.01},
			Packages: map[string]float64{"net": 0.42, "syscall": 0.42, "runtime": 0.57, Repository: 0.01},
		}},
		// Memory that was freed is in the file with no byte in use; it is not live.
		{"heap, which is of one moment", Heap,
			made("alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes", map[string][]int64{
				"main.pool": {9, 4096, 4, 2048}, "main.freed encoding/json.Marshal": {9, 4096, 0, 0},
			}), Profile{
				Kind: "heap", Unit: "B", Total: 2048, Events: 4, Stacks: 1,
				Work: map[string]float64{"handler": 1}, Packages: map[string]float64{Repository: 1},
			}},
		// A goroutine that has not started has no stack.
		{"goroutines", Goroutine, made("goroutine/count", map[string][]int64{
			"net.(*conn).Read runtime.gopark": {3}, "": {1},
		}), Profile{
			Kind: "goroutine", Unit: "count", Total: 4, Stacks: 2,
			Work:     map[string]float64{"read": 0.75, "other": 0.25},
			Packages: map[string]float64{"net": 0.75, "runtime": 0.75, NoSymbol: 0.25},
		}},
		{"nothing contended", Mutex, made(delays, nil), Profile{
			Kind: "mutex", Unit: "s", DurationS: 3.001, Work: map[string]float64{}, Packages: map[string]float64{},
		}},
		{"a frame that has no symbol", CPU, made("samples/count cpu/nanoseconds",
			map[string][]int64{"main.f " + strings.ReplaceAll(NoSymbol, " ", "_"): {1, 10e6}}), Profile{
			Kind: "cpu", Unit: "s", Total: 0.01, Events: 1, Stacks: 1, DurationS: 3.001,
			Work: map[string]float64{"handler": 1}, Packages: map[string]float64{Repository: 1, NoSymbol: 1},
		}},
	} {
		if c.kind.OfMoment() {
			c.p.DurationNanos = 0
		}
		for _, f := range c.p.Function {
			if strings.HasPrefix(f.Name, "[no") {
				f.Name = ""
			}
		}
		if got, err := Analyse(c.kind, c.p); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v\ngot  %+v\nwant %+v", c.name, err, got, c.want)
		}
	}
}

func TestAnalyseRefuses(t *testing.T) {
	for says, p := range map[string]*pprof.Profile{
		"the block profile has other sample types": made("samples/count cpu/nanoseconds", nil),
		"must be one of: [delay]":                  made("delay/nanoseconds", nil),
	} {
		if _, err := Analyse(Block, p); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}
