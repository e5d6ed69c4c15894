package derive

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/madeup"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

const (
	reported       = "97-cost"
	reportedDesign = `
entry = "97"
title = "t"
question = "q"
metrics = ["server_cpu_per_request_s"]
topology = { kind = "loopback" }
settings = { route = "/read", generator = "http_load", connections = 100 }
factors = [{ name = "workers", levels = [1, 2] }]
budget_s = 60
block = { slot_s = 0.1, rounds = 3, warmup_s = 0.2 }
[[claims]]
id = "dearer"
kind = "ratio"
text = "Two workers cost more."
why = "a half more is much"
metric = "server_cpu_per_request_s"
over = "workers"
at_least = 1.5
`
	cheaper = `
[[claims]]
id = "cheaper"
kind = "ratio"
text = "Two workers cost less."
why = "a half less is much"
metric = "server_cpu_per_request_s"
over = "workers"
at_most = 0.5
`
	reportedText = `
entry = "97"
[[figures]]
id = "one"
place = "headline"
printed = "790k"
unit = "1/s"
`
)

// A changed journal is a small one in git, with files that are changed after the
// commit.
type changed struct {
	t    *testing.T
	root journal.Root
}

func (c changed) git(args ...string) {
	c.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", string(c.root), "-c", "core.hooksPath=/dev/null", "-c", "user.name=x",
		"-c", "user.email=x@example.org"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		c.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func (c changed) commit() {
	c.t.Helper()
	c.git("add", "-A")
	c.git("commit", "-q", "-m", "x")
}

func (c changed) experiment(name, text string) {
	archivetest.Write(c.t, filepath.Join(c.root.Experiments(), name+".toml"), text)
}

func (c changed) host(id, name string) {
	c.t.Helper()
	data, err := results.Encode(&host.Profile{SchemaVersion: host.Version, ID: id, Name: name, CPU: "a CPU", Cores: 2})
	if err != nil {
		c.t.Fatal(err)
	}
	archivetest.Write(c.t, c.root.Host(id), string(data))
}

// run adds a run of eight blocks. Two workers cost so many times as much as one; the
// trials of the last invalid blocks are invalid.
func (c changed) run(hosts string, day int, text string, times float64, invalid int) {
	c.t.Helper()
	x, err := experiment.Parse(reported, []byte(text))
	if err != nil {
		c.t.Fatal(err)
	}
	f := madeup.Run(madeup.Plan{
		Experiment: x, Hosts: results.Hosts{Server: hosts, Client: hosts},
		Started: time.Date(2026, 3, day, 12, 0, 0, 0, time.UTC), Seed: uint64(day), Blocks: 8, Ended: results.Blocks,
		Trial: func(ls setting.Levels, block int, _ bool) (came madeup.Came) {
			if n, _ := ls[setting.Workers].Int(); n == 2 {
				came.CostS = times * madeup.Usual.CostS
			}
			if block > 8-invalid {
				came.Reasons, came.Lost = []results.Reason{{Gate: "server-exited", Detail: "it exited"}}, true
			}
			return came
		},
	})
	data, err := results.Encode(f)
	if err != nil {
		c.t.Fatal(err)
	}
	archivetest.Write(c.t, c.root.Result(reported, f.Run), string(data))
	archivetest.Write(c.t, c.root.Design(x.SHA256), text)
}

// lab writes a lab that derives one verdict, whatever the data.
func (c changed) lab(verdict string) {
	c.t.Helper()
	archivetest.Write(c.t, c.root.Path("lab/go.mod"), "module x\n")
	archivetest.Write(c.t, c.root.Path("lab/cmd/lab/main.go"), fmt.Sprintf(`package main

import "os"

func main() {
	os.MkdirAll("derived/data/claims", 0o755)
	os.WriteFile("derived/data/claims/%s.json", []byte(%q), 0o644)
}
`, reported, `{"claims": [{"id": "dearer", "hosts": [{"host": "one", "verdict": "`+verdict+`"}]}, {"id": "cheaper", "hosts": [{"host": "one", "verdict": "refuted"}]}]}`))
}

// report compares the files with a revision.
func (c changed) report(revision string) (out *Report, err error) {
	c.t.Helper()
	now := open(c.t, c.root)
	err = archive.Since(c.root, revision, func(past *archive.Past) error {
		out = ReportOn(past, now)
		return nil
	})
	return out, err
}

func newChanged(t *testing.T) changed {
	t.Helper()
	c := changed{t, journal.Root(t.TempDir())}
	c.experiment(reported, reportedDesign+cheaper)
	c.host("one", "One")
	c.run("one", 1, reportedDesign+cheaper, 2, 0)
	archivetest.Write(t, c.root.Text("97"), reportedText)
	c.lab("reproduced")
	c.git("init", "-q", "-b", "main")
	c.commit()
	return c
}

func TestReportSaysWhatAChangeMoves(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	c := newChanged(t)
	r, err := c.report("main")
	if err != nil {
		t.Fatal(err)
	}
	if says := r.Text(false); len(r.sections()) > 0 || !strings.HasPrefix(says, "Nothing moved since ") ||
		strings.Count(says, "\n") != 1 {
		t.Errorf("nothing changed: %s", says)
	}

	// The lab of before says something else than today's.
	c.lab("inconclusive")
	c.commit()
	c.lab("reproduced")
	if r, err = c.report("main"); err != nil {
		t.Fatal(err)
	}
	says := r.Text(false)
	if len(r.Moves) > 0 || !strings.Contains(says, "1 verdict moved by the code alone") ||
		!strings.Contains(says, "\n  97-cost/dearer: inconclusive → confirmed on 1 machine (one); now ") {
		t.Errorf("the code moved: %s", says)
	}

	// A claim in other words, by which nothing else moves.
	c.experiment(reported, strings.Replace(reportedDesign, "Two workers cost more.", "Two workers cost less.", 1)+cheaper)
	if r, err = c.report("main"); err != nil {
		t.Fatal(err)
	}
	if says := r.Text(false); len(r.sections()) == 0 || !strings.Contains(says, "1 claim in other words") ||
		!strings.Contains(says, "97-cost/dearer: Two workers cost less. Before: Two workers cost more.") {
		t.Errorf("reworded: %s", says)
	}

	// A second machine disagrees, and the first measures again; two claims come, one
	// goes; a figure is corrected, one comes and a check fails.
	later := reportedDesign + "[[withdrawn]]\nid = \"cheaper\"\nwhy = \"It was <b>wrong</b>.\"\n"
	c.experiment(reported, later+strings.ReplaceAll(cheaper, `"cheaper"`, `"new-one"`))
	c.experiment("98-other", strings.Replace(reportedDesign, `"97"`, `"98"`, 1))
	c.host("two", "Two | @everyone")
	c.run("two", 2, later, 1, 0)
	c.run("one", 3, later, 2, 1)
	archivetest.Write(t, c.root.Text("97"), strings.Replace(reportedText, "790k", "795k", 1)+`
[[figures]]
id = "two"
place = "table"
printed = "100k"
unit = "1/s"
[[checks]]
id = "same"
kind = "printed-twice"
of = "one"
equals = "two"
`)
	before := archivetest.Read(t, c.root.Host("one"))
	c.host("one", "Another name")
	status := func() string {
		out, err := exec.Command("git", "-C", string(c.root), "status", "--porcelain").Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	was := status()
	if r, err = c.report("main"); err != nil {
		t.Fatal(err)
	}
	if is := status(); is != was {
		t.Errorf("the checkout changed:\n%s\nbefore:\n%s", is, was)
	}
	says = r.Text(false)
	for _, want := range []string{
		"1 claim has another verdict on 1 machine; 1 of them on which machines disagree; 1 file that only grows was " +
			"changed; 1 verdict moved by the code alone; 2 new claims; 1 withdrawn claim; 2 new runs; 1 new host; 3 of 48 " +
			"new trials invalid; the client was a wall in 0; 1 new audit finding; 1 published figure added.",
		"\n  data/hosts/one.json: changed\n",
		"\n  machines disagree: 97-cost/dearer: not measured → refuted on 1 machine (two); now confirmed on 1 of 2 " +
			"machines, refuted on 1\n",
		"\n  97-cost/new-one: Two workers cost less.\n  98-other/dearer: Two workers cost more.\n",
		"\n  97-cost/cheaper: It was <b>wrong</b>.\n",
		"\n  two: Two | @everyone, a CPU, 2 cores; nothing tells it apart from one, so they may be one machine\n",
		"\n  97-cost on one: 1 run, 24 trials, 3 invalid (server-exited 3)\n  97-cost on two: 1 run, 24 trials\n",
		"\n  97-cost on one: server-cpu 21\n",
		"\n  entry 97, headline: printed 795k, recomputed 1e+05 1/s\n",
		"\n  entry 97: 1 new figure\n  entry 97: changed: one: 795k, before 790k\n",
	} {
		if !strings.Contains(says, want) {
			t.Errorf("no %q in:\n%s", want, says)
		}
	}
	marked := r.Text(true)
	if !strings.Contains(marked, "`Two | @everyone`") ||
		strings.Contains(regexp.MustCompile("`[^`]+`").ReplaceAllString(marked, ""), "@everyone") {
		t.Errorf("markup in:\n%s", marked)
	}
	archivetest.Write(t, c.root.Host("one"), before)

	if _, err = c.report("no-such"); err == nil ||
		err.Error() != `git has no revision "no-such"; name a branch, a tag or a commit` {
		t.Error(err)
	}
	// A journal of before that today's lab cannot read is named without the place where
	// it lay.
	c.experiment("98-other", "entry = ")
	c.commit()
	c.experiment("98-other", strings.Replace(reportedDesign, `"97"`, `"98"`, 1))
	if _, err = c.report("HEAD"); err == nil || !strings.HasPrefix(err.Error(), "this lab cannot read the journal as ") ||
		strings.Contains(err.Error(), temp) || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
	if left, err := os.ReadDir(temp); err != nil ||
		slices.ContainsFunc(left, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), "lab-past-") }) {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
