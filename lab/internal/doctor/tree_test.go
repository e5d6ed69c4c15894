package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/experiment"
)

// A tree has made-up files, as the kernel would show them. None is from a real
// machine.
type tree map[string]string

// put writes the tree's files below a directory; names use slashes.
func (tr tree) put(t *testing.T, dir string) {
	t.Helper()
	for name, text := range tr {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// madeUp is a machine of four cores that shows only the tree's files, whose
// names begin with proc/ or sys/.
func madeUp(t *testing.T, tr tree) Machine {
	t.Helper()
	dir := t.TempDir()
	tree{"proc/none": "", "sys/none": ""}.put(t, dir)
	tr.put(t, dir)
	return Machine{
		Proc: filepath.Join(dir, "proc"), Sys: filepath.Join(dir, "sys"), Cgroup: filepath.Join(dir, "sys", "fs", "cgroup"),
		Split: cores.Split{Server: []int{0, 1}, Client: []int{2, 3}}, Allowed: []int{0, 1, 2, 3},
		Experiments: designs(t),
	}
}

const rest = `
metrics = ["throughput_rps"]
budget_s = 60
[block]
slot_s = 1
rounds = 1
warmup_s = 0
[settings]
route = "/read"
workers = 1
[[factors]]
name = "connections"
levels = [10, MOST]
[[claims]]
id = "threads"
kind = "flat"
text = "t"
why = "Made up."
metric = "threads_per_worker"
over = "connections"
margin = 0.1
`

// designs are two made-up experiments. "near" runs over loopback with up to
// 1000 connections; one of its claims needs four cores and one a server at its
// wall. "far" runs over a wire with up to 100 connections; one of its claims is
// about CPU time.
func designs(t *testing.T) []*experiment.Experiment {
	t.Helper()
	near := "entry = \"1\"\ntitle = \"t\"\nquestion = \"q\"\n" + strings.Replace(rest, "MOST", "1000", 1) + `
[[claims]]
id = "more-cores"
kind = "ratio"
text = "t"
why = "Made up."
metric = "throughput_rps"
over = "connections"
at_least = 1
needs = { cores = 4 }
[[claims]]
id = "at-the-wall"
kind = "bound"
text = "t"
why = "Made up."
bound = "server-cpu"
[topology]
kind = "loopback"
`
	far := "entry = \"2\"\ntitle = \"t\"\nquestion = \"q\"\n" + strings.Replace(rest, "MOST", "100", 1) + `
[[claims]]
id = "cost"
kind = "ratio"
text = "t"
why = "Made up."
metric = "server_cpu_per_request_s"
over = "connections"
at_most = 1
needs = { bound = "wire" }
[topology]
kind = "netns"
line_rate_bps = 100_000_000
burst_bytes = 262_144
queue_s = 0.02
`
	var xs []*experiment.Experiment
	for _, d := range []struct{ name, text string }{{"far", far}, {"near", near}} {
		x, err := experiment.Parse(d.name, []byte(d.text))
		if err != nil {
			t.Fatal(err)
		}
		xs = append(xs, x)
	}
	return xs
}

// expect compares a finding with the parts that a test names.
func expect(t *testing.T, name string, f Finding, level Level, seen, means, mend string) {
	t.Helper()
	if f.Level != level || !strings.Contains(f.Seen, seen) || !strings.Contains(f.Means, means) ||
		!strings.Contains(f.Mend, mend) {
		t.Errorf("%s: %+v", name, f)
	}
	if f.About == "" || f.Seen == "" || (f.Means == "") != (f.Level == Good) || f.Level == Good &&
		(f.Mend != "" || f.Bars) {
		t.Errorf("%s: what is ok means nothing and needs nothing, and all else says what it means: %+v", name, f)
	}
}
