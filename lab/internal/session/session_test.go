package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
	"github.com/line-rate/line-rate/lab/internal/cli"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// A run stops when its claims are decided, and says so; a later call passes over them, unless blocks are asked for.
func TestARunStopsWhenItsClaimsAreDecided(t *testing.T) {
	w := newWorkshop(t)
	held, out, err := w.measure(t.Context(), 1, Options{})
	f := w.made(9)[0]
	if err != nil || !held || f.Provenance.Ended != results.Decided {
		t.Fatalf("held %v, %v\n%s", held, err, out)
	}
	has(t, out, counted+"/count  confirmed", "results: data/results/"+counted+"/"+f.Run+".json\n",
		"\n1 of 1 claim decided here; 0 not applicable\n")
	has(t, w.said(), "  97-counted/count is confirmed: all 2 comparisons hold", "block 9, the last (decided): ",
		" left, 1 of 1 claims decided\n")
	held, out, err = w.measure(t.Context(), 1, Options{})
	if w.made(9); err != nil || !held {
		t.Errorf("held %v, %v", held, err)
	}
	has(t, out, counted+"/count  confirmed")
	has(t, w.said(), "runs made earlier count: 97-counted 1 (decided)\n")
	if _, _, err := w.measure(t.Context(), 1, Options{Blocks: 2}); err != nil {
		t.Error(err)
	}
	w.made(9, 2)
	if said := w.said(); strings.Contains(said, "count is confirmed") {
		t.Errorf("it prints earlier decisions again:\n%s", said)
	}
}

func TestARunStopsWhenItsBudgetIsSpent(t *testing.T) {
	for _, c := range []struct {
		o     Options
		want  int
		ended results.Ended
	}{{Options{Budget: 40 * time.Second}, 3, results.Budget}, {Options{Blocks: 4}, 4, results.Blocks}} {
		w := newWorkshop(t)
		held, out, err := w.measure(t.Context(), 1, c.o)
		if f := w.made(c.want)[0]; err != nil || held || f.Provenance.Ended != c.ended {
			t.Errorf("%+v: held %v, %v\n%s", c.o, held, err, out)
		}
		has(t, out, "the same command goes on from here: its blocks count\n")
	}
}

// Blocks of two experiments take turns, ten seconds at least between two of one, and each run has one file.
// Whatever ends the call, all of them keep their complete blocks.
func TestExperimentsTakeTurns(t *testing.T) {
	for _, c := range []struct {
		name string
		fail int // with this block of the first
		stop bool
		want int
		ends results.Ended
	}{
		{"to the end", 0, false, 9, results.Decided},
		{"interrupted", 4, true, 3, results.Interrupted},
		{"failed", 4, false, 3, results.Interrupted},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorkshop(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if w.fail = c.fail; c.stop {
				w.cancel = cancel
			}
			if _, _, err := w.measure(ctx, 2, Options{}); (err != nil) != (c.fail > 0) {
				t.Error(err)
			}
			runs := w.made(c.want, c.want)
			if !slices.Equal(w.order, slices.Repeat([]string{"97", "98"}, c.want)) {
				t.Errorf("the order was %v", w.order)
			}
			for _, f := range runs {
				if f.Provenance.Ended != c.ends {
					t.Errorf("%s ended: %s", f.Experiment, f.Provenance.Ended)
				}
				if apart := results.Apart(slices.Collect(maps.Values(f.Spans()))); slices.Contains(apart, false) {
					t.Errorf("%s: blocks are apart: %v", f.Experiment, apart)
				}
			}
			said := w.said()
			has(t, said, "97-counted block 1: 4 s, at most 9 min 56 s left, 0 of 2 claims decided\n")
			if strings.Contains(said, "kept 3 blocks of a run of 98-other that was cut short") != (c.fail > 0) {
				t.Error(said)
			}
		})
	}
}

// A failure before the first block leaves nothing; the next call continues from the kept blocks.
func TestARunThatCannotGoOnKeepsItsCompleteBlocks(t *testing.T) {
	for _, c := range []struct {
		fail             int
		interrupt, blind bool
		want, then       []int
		says             string
	}{
		{1, true, false, nil, []int{9}, "97-counted: interrupted"},
		{4, true, false, []int{3}, []int{3, 6}, "97-counted: interrupted"},
		{4, false, true, []int{3}, nil, "97-counted: a cable was pulled"},
		{4, true, true, []int{3}, nil, "97-counted: interrupted"},
	} {
		w := newWorkshop(t)
		ctx, cancel := context.WithCancel(t.Context())
		if w.fail, w.broken = c.fail, c.blind; c.interrupt {
			w.cancel = cancel
		}
		if _, _, err := w.measure(ctx, 1, Options{}); err == nil || err.Error() != c.says {
			t.Errorf("%v, want %s", err, c.says)
		}
		cancel()
		w.made(c.want...)
		if w.fail, w.cancel, w.at = 0, nil, w.at.Add(time.Minute); c.then != nil {
			if _, _, err := w.measure(t.Context(), 1, Options{}); err != nil {
				t.Error(err)
			}
			w.made(c.then...)
		}
	}
}

// A schedule of made-up blocks. The last block of its clear case decides each experiment.
func TestTheBudgetDecidesWhatItCan(t *testing.T) {
	type part struct {
		seconds, claims, clear int
	}
	three := []part{{9, 1, 6}, {3, 4, 8}, {3, 2, 7}}
	core := []part{{1, 3, 11}, {3, 2, 9}, {2, 3, 9}, {6, 4, 9}, {4, 2, 9}, {3, 2, 9}, {3, 1, 7}}
	for _, c := range []struct {
		parts  []part
		budget time.Duration
		want   []int
	}{
		{three, time.Hour, []int{6, 8, 7}},
		{three, 133 * time.Second, []int{6, 8, 7}},             // everything takes 99 s, and 34 s of waiting
		{three, 103 * time.Second, []int{1, 8, 7}},             // six blocks of 9 s and five gaps take 104 s: one fills a gap
		{three, 93 * time.Second, []int{1, 7, 7}},              // eight blocks of 3 s and seven gaps take 94 s
		{core, 200 * time.Second, []int{11, 9, 9, 9, 9, 9, 7}}, // everything takes 194 s: nobody is left alone with gaps
	} {
		budget, parts, want := c.budget, c.parts, c.want
		at := time.Unix(0, 0)
		s := &Session{until: at.Add(budget), Line: &cli.Line{Now: func() time.Time { return at }}}
		for _, p := range parts {
			s.outcomes = append(s.outcomes, &outcome{block: time.Duration(p.seconds) * time.Second, clear: p.clear,
				needs: slices.Repeat([]int{p.clear}, p.claims)})
		}
		for {
			o, wait := s.next()
			if o == nil {
				break
			}
			if at = at.Add(wait); o.blocks > 0 && at.Sub(o.left) < results.BlockGap {
				t.Errorf("%v: a block after %v", budget, at.Sub(o.left))
			}
			at = at.Add(o.block)
			o.blocks, o.left = o.blocks+1, at
			o.over = o.blocks == o.clear
			for i := range o.needs {
				o.needs[i] = o.clear - o.blocks
			}
		}
		var got []int
		for _, o := range s.outcomes {
			got = append(got, o.blocks)
		}
		if !slices.Equal(got, want) || at.After(s.until) {
			t.Errorf("%v: blocks %v, want %v, in %v", budget, got, want, at.Sub(time.Unix(0, 0)))
		}
	}
}

func TestWhatTheBudgetHasNoRoomForIsSaid(t *testing.T) {
	w := newWorkshop(t)
	slow := strings.Replace(archivetest.CountedDesign("98", true), "slot_s = 1", "slot_s = 20", 1)
	w.write(w.root.Experiment(other), slow)
	held, out, err := w.measure(t.Context(), 2, Options{Budget: 130 * time.Second})
	if w.made(9); err != nil || held {
		t.Errorf("held %v, %v", held, err)
	}
	has(t, out, "open       not measured: it takes about ", "for which the budget has no room",
		"\n1 of 2 claims decided here; 0 not applicable\n")
}

// The exit status follows the verdicts. It counts refused blocks, and prints their faults once.
func TestTheStatusIsThatOfTheVerdicts(t *testing.T) {
	w := newWorkshop(t)
	w.seen = func(int64) float64 { return 9 }
	if held, out, _ := w.measure(t.Context(), 1, Options{}); held || !strings.Contains(out, "refuted") {
		t.Errorf("refuted: held %v\n%s", held, out)
	}
	w = newWorkshop(t)
	w.broken = true
	held, out, _ := w.measure(t.Context(), 1, Options{Blocks: 2})
	if said := w.said(); held || strings.Count(said, "invalid: server-exited: the server exited in mid-trial\n") != 1 {
		t.Errorf("refused: held %v\n%s", held, said)
	}
	has(t, out, "in 2 of 2 blocks a fault refused a trial", "\nfaults refused trials in 2 of 2 blocks\n")
	w.broken = false
	if held, out, _ := w.measure(t.Context(), 1, Options{Budget: time.Hour}); !held {
		t.Errorf("valid blocks later: held %v\n%s", held, out)
	}
}

// The core set starts anew: runs that git has may come from another machine of the same name, so
// none counts.
func TestTheCoreSetIsAskedAnew(t *testing.T) {
	w := newWorkshop(t)
	git := func(args ...string) { // a checkout's state
		if out, err := host.Git(string(w.root), args...); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	for _, c := range []struct {
		change func()
		made   []int
		says   string
	}{
		{func() {}, []int{9, 9}, ""},
		{func() {}, []int{9, 9}, "runs made earlier count: 97-counted 1 (decided), 98-other 1 (decided)\n"},
		{func() { git("add", "data/results/"+counted) }, []int{9, 9, 9}, "runs made earlier count: 98-other 1 (decided)\n"},
		{func() { _ = os.RemoveAll(w.root.Path(".git")) }, []int{9, 9, 9, 9, 9}, ""}, // git cannot tell
	} {
		c.change()
		held, out, err := w.measure(t.Context(), 2, Options{Anew: true})
		w.made(c.made...)
		if said := w.said(); err != nil || !held || !strings.Contains(said, c.says) || c.says == "" && strings.Contains(said, "earlier") {
			t.Errorf("held %v, %v\n%s\n%s", held, err, out, said)
		}
	}
}

// The further runs of one call draw other orders.
func TestARunThatIsFullIsFollowedByAnother(t *testing.T) {
	w := newWorkshop(t)
	w.broken = true
	if _, _, err := w.measure(t.Context(), 1, Options{Blocks: 107, Budget: time.Hour}); err != nil {
		t.Fatal(err)
	}
	if w.made(100, 7); len(w.seeds) != 2 || w.seeds[0] == w.seeds[1] {
		t.Errorf("seeds %v", w.seeds)
	}
}

// A run for trial stays out of the journal, and its verdicts rest on it alone. The claim may still change.
func TestARunForTrial(t *testing.T) {
	w := newWorkshop(t)
	for _, sees := range []float64{7, 9} {
		w.seen = func(int64) float64 { return sees }
		held, out, err := w.measure(t.Context(), 1, Options{Scratch: true})
		made, _ := filepath.Glob(w.root.Tried().Result(counted, "*"))
		if w.made(); err != nil || held || len(made) == 0 {
			t.Fatalf("held %v, %v, made %v\n%s", held, err, made, out)
		}
		has(t, out, counted+"/count  refuted", "0 of 9 blocks lie at", "results: "+w.root.Rel(made[len(made)-1]))
	}
	w.write(w.root.Experiment(counted), strings.Replace(archivetest.CountedDesign("97", true), "connections = 4", "connections = 8", 1))
	w.seen = nil
	if held, out, err := w.measure(t.Context(), 1, Options{}); err != nil || !held {
		t.Errorf("held %v, %v\n%s", held, err, out)
	}
}

// A run never takes the place of another.
func TestARunOfATakenNameIsRefused(t *testing.T) {
	w := newWorkshop(t)
	began := w.at
	for _, says := range []string{"", "exists already"} {
		w.at = began
		if _, _, err := w.measure(t.Context(), 1, Options{Blocks: 1, Anew: true}); (err == nil) != (says == "") ||
			err != nil && !strings.Contains(err.Error(), says) {
			t.Error(err)
		}
	}
}

// Profiles that no results file names are removed by the next call; those that one names stay.
func TestProfilesThatNoRunNamesAreRemoved(t *testing.T) {
	root := archivetest.ProfiledClone(t)
	named := root.Packed(archivetest.Profiled + "/c1")
	whole := archivetest.Read(t, named)
	f := archivetest.AddRun(t, root, "c6in-8xlarge", time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), 1)
	left := []string{root.Packed("09-mutex/killed/c1"), root.Packed(f.Experiment + "/" + f.Run + "/c1")}
	for _, path := range left {
		archivetest.Write(t, path, whole)
	}
	s := &Session{j: &archive.Journal{Root: root}}
	if err := s.tidy(); err != nil || archivetest.Read(t, named) != whole {
		t.Errorf("what a run names is changed: %v", err)
	}
	for _, path := range left {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is left", path)
		}
	}
}

// Runs count with one that is made now if that is of the same programs on surely the same
// machine. Where none does, the lab says that a record begins, and why.
func TestARecordBeginsAnewWithOtherProgramsOrAnotherStart(t *testing.T) {
	w := newWorkshop(t)
	if _, _, err := w.measure(t.Context(), 1, Options{Blocks: 1}); err != nil {
		t.Fatal(err)
	}
	archivetest.Write(t, w.root.Path(".tools/bin/fiber_server"), "a server")
	digest := func(text string) map[string]host.Binary {
		sum := sha256.Sum256([]byte(text))
		return map[string]host.Binary{"fiber_server": {SHA256: hex.EncodeToString(sum[:])},
			"lab": {SHA256: strings.Repeat("1", 64)}}
	}
	for _, c := range []struct {
		name     string
		binaries map[string]host.Binary // of the run
		boot     string                 // of the machine now
		says     string
	}{
		{"as it was", digest("a server"), "", ""},
		{"a run that names no program", nil, "", ""},
		{"another server", digest("another server"), "", "(made of something else now: fiber_server)"},
		{"another start", digest("a server"), "0123456789abcdef",
			"(the machine or its servers are not what they were)"},
	} {
		s := w.session(Options{})
		s.here.Boot = c.boot
		s.j.Runs[0].Provenance.Binaries = c.binaries
		rec := s.record(s.j.Experiments[0], s.counted())
		said := strings.Join(s.begins, "")
		if (len(rec.runs) > 0) != (c.says == "") || (said == "") != (c.says == "") || !strings.Contains(said, c.says) {
			t.Errorf("%s: %d runs count, said %q, want %q", c.name, len(rec.runs), said, c.says)
		}
	}
}
