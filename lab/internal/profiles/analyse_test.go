package profiles

import (
	"bytes"
	"maps"
	"math"
	"net"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/pprof/profile"
)

// made makes a profile of a kind from stacks, caller first, with their values.
func made(types string, samples map[string][]int64) *profile.Profile {
	p := &profile.Profile{DurationNanos: 3_001_000_000}
	for _, t := range strings.Fields(types) {
		name, unit, _ := strings.Cut(t, "/")
		p.SampleType = append(p.SampleType, &profile.ValueType{Type: name, Unit: unit})
	}
	for _, stack := range slices.Sorted(maps.Keys(samples)) {
		s := &profile.Sample{Value: samples[stack]}
		for _, name := range strings.Fields(stack) {
			f := &profile.Function{ID: uint64(len(p.Function) + 1), Name: name}
			l := &profile.Location{ID: f.ID, Line: []profile.Line{{Function: f}}}
			p.Function, p.Location = append(p.Function, f), append(p.Location, l)
			s.Location = append([]*profile.Location{l}, s.Location...)
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
		p    *profile.Profile
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
		{"what was allocated", Allocs, made("alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes",
			map[string][]int64{
				"main.pool": {9, 4096, 4, 2048}, "main.freed encoding/json.Marshal": {9, 4096, 0, 0},
			}), Profile{
			Kind: "allocs", Unit: "B", Total: 8192, Events: 18, Stacks: 2, DurationS: 3.001,
			Work: map[string]float64{"handler": 1}, Packages: map[string]float64{Repository: 1, "encoding/json": 0.5},
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
		{"a frame that has no symbol", CPU, made("samples/count cpu/milliseconds",
			map[string][]int64{"main.f " + strings.ReplaceAll(NoSymbol, " ", "_"): {1, 10}}), Profile{
			Kind: "cpu", Unit: "s", Total: 0.01, Events: 1, Stacks: 1, DurationS: 3.001,
			Work: map[string]float64{"handler": 1}, Packages: map[string]float64{Repository: 1, NoSymbol: 1},
		}},
	} {
		for _, f := range c.p.Function {
			if strings.HasPrefix(f.Name, "[no") {
				f.Name = ""
			}
		}
		got, err := Analyse(c.kind, c.p)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if !same(got, c.want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", c.name, got, c.want)
		}
	}
}

func same(a, b Profile) bool {
	return a.Kind == b.Kind && a.Unit == b.Unit && a.Total == b.Total && a.Events == b.Events && a.Stacks == b.Stacks &&
		a.DurationS == b.DurationS &&
		maps.Equal(a.Work, b.Work) && maps.Equal(a.Packages, b.Packages) && a.Work != nil && a.Packages != nil
}

func TestParked(t *testing.T) {
	for _, c := range []struct {
		p    Profile
		want float64
	}{
		{Profile{Kind: "block", Total: 190.466, DurationS: 6}, 31.7443333},
		{Profile{Kind: "block", Total: 6, DurationS: 3}, 2},
		{Profile{Kind: "block", DurationS: 3}, 0},
		{Profile{Kind: "block", Total: 6}, 0},
		{Profile{Kind: "mutex", Total: 6, DurationS: 3}, 0},
	} {
		if got := Parked(c.p); got != c.want {
			t.Errorf("%+v: %v, want %v", c.p, got, c.want)
		}
	}
}

func TestAnalyseRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		kind Kind
		p    *profile.Profile
		says string
	}{
		{"a difference", Block, made(delays, map[string][]int64{"main.f": {1, -1}}), "block: a sample is negative"},
		{"a difference in what was counted", Block, made(delays, map[string][]int64{"main.f": {-1, 1}}),
			"block: a sample is negative"},
		{"a profile of another kind", CPU, made(delays, nil),
			`cpu: the profile has no sample type "cpu"; it has contentions, delay`},
		{"one that counts nothing", CPU, made("cpu/nanoseconds", nil), `the profile has no sample type "samples"`},
		{"an unknown unit", CPU, made("samples/count cpu/fortnights", nil), `cpu is in "fortnights"`},
		{"an unknown kind", "wall", made(delays, nil), `unknown kind "wall"`},
		{"more than can be added", Block, made(delays, map[string][]int64{"main.f": {1, math.MaxInt64}, "main.g": {1, 1}}),
			"beyond 64 bits"},
	} {
		if _, err := Analyse(c.kind, c.p); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
}

// Profiles that this process takes of itself: a contended lock, bytes written
// to a connection, and memory that is kept.
func TestAnalyseOfARunningProcess(t *testing.T) {
	runtime.SetMutexProfileFraction(1)
	runtime.SetBlockProfileRate(1)
	rate := runtime.MemProfileRate
	runtime.MemProfileRate = 1
	defer func() {
		runtime.SetMutexProfileFraction(0)
		runtime.SetBlockProfileRate(0)
		runtime.MemProfileRate = rate
	}()

	var cpu bytes.Buffer
	if err := pprof.StartCPUProfile(&cpu); err != nil {
		t.Skip("another CPU profile runs:", err)
	}
	kept := contend(t)
	burnt := burn()
	pprof.StopCPUProfile()
	runtime.GC() // a heap profile is as of the last collection

	got := map[Kind]Profile{}
	for _, kind := range []Kind{CPU, Mutex, Block, Heap, Allocs, Goroutine} {
		data := &cpu
		if kind != CPU {
			data = &bytes.Buffer{}
			if err := pprof.Lookup(string(kind)).WriteTo(data, 0); err != nil {
				t.Fatal(err)
			}
		}
		p, err := profile.ParseData(data.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		a, err := Analyse(kind, p)
		if err != nil {
			t.Fatal(err)
		}
		got[kind] = a

		if a.Total <= 0 || a.Stacks == 0 || kind != Goroutine && a.Events <= 0 {
			t.Errorf("%s: total %v %s, %v events, %d stacks", kind, a.Total, a.Unit, a.Events, a.Stacks)
		}
		var sum float64
		for work, share := range a.Work {
			if !slices.Contains(WorkNames(), work) || share <= 0 || share > 1 {
				t.Errorf("%s: %s has %v", kind, work, share)
			}
			sum += share
		}
		if math.Abs(sum-1) > 1e-7 {
			t.Errorf("%s: shares of work sum to %v: %v", kind, sum, a.Work)
		}
		for key, share := range a.Packages {
			if share <= 0 || share > 1 {
				t.Errorf("%s: %s has %v", kind, key, share)
			}
		}
	}
	runtime.KeepAlive(kept)
	runtime.KeepAlive(burnt)

	for _, kind := range []Kind{Mutex, Block} {
		if got[kind].Work["lock"] <= 0 || got[kind].Packages["sync"] <= 0 || got[kind].Packages[Repository] <= 0 {
			t.Errorf("%s does not show the lock: %v, %v", kind, got[kind].Work, got[kind].Packages)
		}
	}
	if a := got[CPU]; a.Packages[Repository] <= 0 || a.Work["handler"] <= 0 || a.DurationS <= 0 {
		t.Errorf("CPU: %v over %v s", a.Packages, a.DurationS)
	}
	if a := got[Heap]; a.Packages[Repository] <= 0 || a.DurationS != 0 || a.Unit != "B" {
		t.Errorf("heap: %+v", a)
	}
	if a := got[Goroutine]; a.Work["profiler"] <= 0 {
		t.Errorf("the goroutine that takes the profile is not the profiler's: %v", a.Work)
	}
	for kind, a := range got {
		if share, there := a.Packages["github.com/brianvoe/gofakeit"]; there {
			t.Errorf("%s: gofakeit has %v; nothing here calls it", kind, share)
		}
	}
}

// burn uses CPU time, for dozens of the profiler's samples, however slow the
// machine is.
func burn() uint64 {
	x := uint64(1)
	for range 200_000_000 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

// contend makes two goroutines contend for one lock, and writes to a
// connection.
func contend(t *testing.T) []byte {
	t.Helper()
	var mu sync.Mutex
	mu.Lock()
	waiting := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		close(waiting)
		mu.Lock()
		defer mu.Unlock()
	})
	<-waiting
	time.Sleep(20 * time.Millisecond) // so that it waits by then
	mu.Unlock()
	group.Wait()

	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	conn, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	body := make([]byte, 1<<10)
	if _, err := conn.Write(body); err != nil {
		t.Fatal(err)
	}
	return body
}
