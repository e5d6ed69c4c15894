package pages

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/verdict/sample"
)

var update = flag.Bool("update", false, "write the golden file anew")

// The whole verdict file of a made-up run: twelve blocks, one trial repeated, the
// wire full at the deeper level. `go test ./internal/pages -update` writes it
// again; each changed line changes what the journal says.
func TestAWholeVerdictFile(t *testing.T) {
	x := sample.Design(t, `{ name = "workers", levels = [1, 2] }, { name = "pipelining", levels = [1, 10] }`,
		strings.Replace(sample.IsFlat, `"c"`, `"is-flat"`, 1),
		strings.Replace(sample.AtMost, `"c"`, `"halves"`, 1),
		strings.Replace(sample.WireWall, `"c"`, `"wire-is-the-wall"`, 1),
		strings.Replace(sample.AsMany, `"c"`, `"as-many"`, 1),
		strings.Replace(fmt.Sprintf(sample.FlatNeeds, "cores = 64"), `"c"`, `"on-a-large-machine"`, 1),
		strings.Replace(strings.Replace(sample.FlatCost, `"c"`, `"cost"`, 1), sample.Cost, "latency_p50_s", 1))
	jitter := []float64{1.03, 0.98, 1.01, 1.00, 0.99, 1.02, 1.01, 0.99, 1, 1.02, 1, 1.01}
	r := sample.Run(x, 12, func(ls setting.Levels, b int) sample.Figures {
		n, _ := ls[setting.Workers].Int()
		v := sample.Base(b)
		if n == 2 {
			v *= jitter[b-1]
		}
		return sample.Figures{sample.Rps: v, "workers": float64(n), "line_rate_share": 0.5}
	})
	r.Topology = results.Topology{Kind: "netns", LineRateBps: 5e8}
	for i := range r.Trials {
		tr := &r.Trials[i]
		tr.Below = sample.Figures{"latency_p50_s": 0.001}
		sample.Bound(tr, gate.BoundServerCPU)
		tr.Metrics["line_rate_share"] = 0.5
		if tr.Condition == "c2" || tr.Condition == "c4" {
			sample.Bound(tr, gate.BoundWire)
			tr.Metrics["line_rate_share"] = 0.96
		}
	}
	again := r.Trials[7]
	sample.Spoil(&r.Trials[7])
	r.Trials = append(r.Trials, again)
	f := verdict.Decide(x, sample.Machine, []verdict.Run{{File: r, Then: x}})
	Fill(f, x)
	got, err := results.Encode(f)
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "verdict.golden.json")
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("it differs from %s:\n%s", golden, firstDifference(got, want))
	}
}

func firstDifference(got, want []byte) string {
	g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d: %s\nwant    %s", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}
