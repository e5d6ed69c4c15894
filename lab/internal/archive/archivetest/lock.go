package archivetest

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"strings"
	"testing"
	"time"

	pprof "github.com/google/pprof/profile"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/madeup"
	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// A made-up experiment over two routes, with and without a lock in each
// request, and the paths of its made-up run and profiles.
const (
	LockRun  = "98-made-lock/20260101t000000z-c6in-8xlarge"
	LockFile = "data/results/" + LockRun + ".json"
)

// LockDesign is that experiment's file.
//
//go:embed lock.toml
var LockDesign string

// lockSamples are the samples of one trial of each condition: stacks with
// milliseconds blocked or bytes live.
var lockSamples = map[string]map[string]map[string]int64{
	"block": {
		"gofakeit": {"main.run github.com/brianvoe/gofakeit/v7.Number sync.(*Mutex).Lock": 6000,
			"net/http.(*conn).serve net/http/pprof.Profile runtime.selectgo": 3000},
		"pool": {"net/http.(*conn).serve net/http/pprof.Profile runtime.selectgo": 3000},
	},
	"mutex": {
		"gofakeit": {"main.run github.com/brianvoe/gofakeit/v7.Number sync.(*Mutex).Unlock": 600},
		"pool":     {},
	},
	"heap": {
		"gofakeit": {"main.main encoding/json.Marshal": 1 << 20},
		"pool":     {"main.main encoding/json.Marshal": 1 << 20, "main.main main.draw": 1 << 19},
	},
}

// RawLock makes the pprof profile of some trials of three seconds each.
func RawLock(t *testing.T, kind, index string, trials int64) []byte {
	t.Helper()
	p := &pprof.Profile{DurationNanos: trials * 3e9,
		SampleType: []*pprof.ValueType{{Type: "contentions", Unit: "count"}, {Type: "delay", Unit: "nanoseconds"}}}
	factor := int64(1e6)
	if kind == "heap" {
		p.SampleType = []*pprof.ValueType{{Type: "inuse_objects", Unit: "count"}, {Type: "inuse_space", Unit: "bytes"}}
		factor = 1
	}
	for stack, v := range lockSamples[kind][index] {
		s := &pprof.Sample{Value: []int64{trials, trials * v * factor}}
		for _, name := range strings.Fields(stack) {
			f := &pprof.Function{ID: uint64(len(p.Function) + 1), Name: name}
			l := &pprof.Location{ID: f.ID, Line: []pprof.Line{{Function: f}}}
			p.Function, p.Location = append(p.Function, f), append(p.Location, l)
			s.Location = append([]*pprof.Location{l}, s.Location...)
		}
		p.Sample = append(p.Sample, s)
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func sumOf(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// ProfiledClone is a clone with the made-up experiment and its run.
func ProfiledClone(t *testing.T) journal.Root {
	t.Helper()
	root := Clone(t)
	Write(t, root.Experiment("98-made-lock"), LockDesign)
	x, err := experiment.Load(root.Experiment("98-made-lock"))
	if err != nil {
		t.Fatal(err)
	}
	f := madeup.Run(madeup.Plan{
		Experiment: x, Hosts: results.Hosts{Server: "c6in-8xlarge", Client: "c6in-8xlarge"},
		Started: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		Seed:    1, Blocks: 2, Ended: results.Blocks, NoControl: true,
	})
	raw := map[string][]byte{}
	for i := range f.Conditions {
		c := &f.Conditions[i]
		index := c.Levels[setting.Index].String()
		for _, kind := range []string{"block", "mutex", "heap"} {
			data := RawLock(t, kind, index, 2)
			file := fmt.Sprintf("%s/%s-%s.pb.gz", LockRun, c.ID, kind)
			raw[file] = data
			c.Profiles = append(c.Profiles, results.RawProfile{Kind: profile.Kind(kind), File: file,
				SHA256: sumOf(string(data)), Trials: 2})
			// What a results file says about one trial.
			one, err := pprof.ParseData(RawLock(t, kind, index, 1))
			if err != nil {
				t.Fatal(err)
			}
			of, err := profile.Analyse(profile.Kind(kind), one)
			if err != nil {
				t.Fatal(err)
			}
			for j := range f.Trials {
				if trial := &f.Trials[j]; trial.Condition == c.ID {
					trial.Profiles = append(trial.Profiles, of)
				}
			}
		}
	}
	packed, err := results.PackRaw(raw)
	if err != nil {
		t.Fatal(err)
	}
	Write(t, root.Packed(LockRun+"/c1"), string(packed))
	add(t, root, x, f)
	return root
}
