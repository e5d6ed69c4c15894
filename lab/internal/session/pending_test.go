package session

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/run"
)

// leave leaves a run of so many blocks pending, as a killed lab does. It gives the file.
func (w *workshop) leave(n int, ended results.Ended) (r *run.Run, path string) {
	w.t.Helper()
	s := w.session(Options{})
	x, err := s.j.Experiment(counted)
	if err != nil {
		w.t.Fatal(err)
	}
	p := s.plan(x)
	p.Budget, p.Seed = time.Minute, 3
	r, _ = w.start(p)
	for range n {
		if _, err := w.block(r, w.t.Context(), func(int, int) {}); err != nil {
			w.t.Fatal(err)
		}
		r.File.Provenance.Ended = ended
		if err := s.setAside(r); err != nil {
			w.t.Fatal(err)
		}
	}
	w.at = w.at.Add(time.Minute)
	return r, pendingPath(w.root, r.File)
}

// pending lists the files below the directory of pending runs.
func (w *workshop) pending() (out []string) {
	for _, path := range w.below(w.root.Pending()) {
		rel, _ := filepath.Rel(w.root.Pending(), path)
		out = append(out, rel)
	}
	return out
}

// Whenever the lab is killed, the next lab finds one of these states.
func TestWhatAKilledLabLeftIsKept(t *testing.T) {
	for name, c := range map[string]struct {
		ended results.Ended
		spoil func(w *workshop, r *run.Run)
	}{
		"between blocks": {"", func(*workshop, *run.Run) {}},
		"after the last": {results.Decided, func(*workshop, *run.Run) {}},
		"while a block was set aside": {"", func(w *workshop, r *run.Run) {
			w.write(filepath.Join(w.root.Pending(), "staged-1"), "{")
		}},
		"when all but the results were in place": {"", func(w *workshop, r *run.Run) {
			s := w.session(Options{})
			b, err := s.bundle(r)
			if err != nil {
				w.t.Fatal(err)
			}
			all := b.files(w.root, r.File)
			for _, one := range all[:len(all)-1] {
				w.write(one.path, string(one.data))
			}
		}},
		"when all was in place": {results.Decided, func(w *workshop, r *run.Run) {
			s := w.session(Options{})
			b, err := s.bundle(r)
			if err == nil {
				err = b.add(s.j, r.File)
			}
			if err != nil {
				w.t.Fatal(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkshop(t)
			r, path := w.leave(7, c.ended)
			if got := w.pending(); !slices.Equal(got, []string{filepath.Base(path)}) {
				t.Errorf("pending: %v", got)
			}
			c.spoil(w, r)
			finished := r.File.Provenance.FinishedAt
			if _, _, err := w.run(t.Context(), Options{}); err != nil {
				t.Fatal(err)
			}
			runs := w.inOrder()
			if !slices.Equal(blocks(runs), []int{7, 2}) {
				t.Fatalf("blocks %v", blocks(runs))
			}
			want := c.ended
			if want == "" {
				want = results.Interrupted
			}
			if p := runs[0].Provenance; p.Ended != want || !p.FinishedAt.Equal(finished) {
				t.Errorf("ended %q at %v, want %s at %v", p.Ended, p.FinishedAt, want, finished)
			}
			if said := w.said(); strings.Contains(said, "kept 7 blocks of a run of 97-counted that was cut short\n") !=
				(name != "when all was in place") {
				t.Error(said)
			}
		})
	}
}

func TestWhatTheJournalWouldRefuseIsMovedAside(t *testing.T) {
	edit := func(w *workshop, path, old, new string) {
		text, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(text, []byte(old)) {
			w.t.Fatal(err, path)
		}
		w.write(path, strings.Replace(string(text), old, new, 1))
	}
	for name, c := range map[string]struct {
		spoil func(w *workshop, path string)
		want  string
	}{
		"cut short":       {func(w *workshop, path string) { w.write(path, "{\n") }, "ends in the middle"},
		"changed":         {func(w *workshop, path string) { edit(w, path, `"seed":3`, `"seed":4`) }, "but the seed draws"},
		"of another name": {func(w *workshop, path string) { edit(w, path, `"run":"2`, `"run":"3`) }, "no run of its name"},
		"whose claim was changed since": {func(w *workshop, path string) {
			edit(w, w.root.Experiment(counted), `equals = "workers"`, "equals = \"workers\"\nplus = 1")
		}, `claim "count" was changed after`},
		"of an experiment that is gone": {func(w *workshop, path string) {
			os.Rename(w.root.Experiment(counted), w.root.Experiment("96-renamed"))
		}, `no experiment "97-counted"`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkshop(t)
			_, path := w.leave(3, "")
			c.spoil(w, path)
			s := w.session(Options{})
			if err := adopt(s.j, s.Say); err != nil {
				t.Fatal(err)
			}
			aside := "refused/" + filepath.Base(path)
			if got := w.pending(); !slices.Equal(got, []string{aside}) {
				t.Errorf("pending: %v", got)
			}
			said := w.said()
			if !strings.HasPrefix(said, "a run of 97-counted that was cut short cannot be kept: ") ||
				!strings.HasSuffix(said, "; it lies in .tools/scratch/pending/"+aside+"\n") || !strings.Contains(said, c.want) ||
				strings.Count(said, "\n") != 1 {
				t.Errorf("said %q, want %q", said, c.want)
			}
			// Nothing of it is in the journal, and it is not tried again.
			if left := w.below(w.root.Path("data")); len(left) > 0 {
				t.Errorf("in data/: %v", left)
			}
			again := w.session(Options{})
			if err := adopt(again.j, again.Say); err != nil || w.said() != "" {
				t.Errorf("once more: %v", err)
			}
		})
	}
}

// A run that is interrupted, or that fails, keeps its complete blocks; the next goes on from there. What
// failed before anything was measured leaves nothing.
func TestARunThatCannotGoOnKeepsItsCompleteBlocks(t *testing.T) {
	for _, c := range []struct {
		fail             int
		interrupt, blind bool
		want             []int
		says             string
	}{
		{1, true, false, nil, "97-counted: interrupted; this experiment left nothing behind"},
		{4, true, false, []int{3}, "97-counted: interrupted; 3 complete blocks are kept"},
		{4, false, false, []int{3}, "97-counted: a cable was pulled"},
		{4, false, true, nil, "97-counted: a cable was pulled"},
	} {
		w := newWorkshop(t)
		ctx, cancel := context.WithCancel(t.Context())
		w.fail, w.broken = c.fail, c.blind
		if c.interrupt {
			w.cancel = cancel
		}
		_, out, err := w.run(ctx, Options{})
		runs := w.inOrder()
		if err == nil || err.Error() != c.says || !slices.Equal(blocks(runs), c.want) {
			t.Fatalf("%v, want %s; blocks %v", err, c.says, blocks(runs))
		}
		if len(runs) > 0 && (runs[0].Provenance.Ended != results.Interrupted || !strings.Contains(out, "0 of 1 claim decided here")) {
			t.Errorf("%s, %s", runs[0].Provenance.Ended, out)
		}
		w.fail, w.cancel = 0, nil
		w.at = w.at.Add(time.Minute)
		if _, _, err := w.run(t.Context(), Options{}); err != nil {
			t.Fatal(err)
		}
		if got := blocks(w.inOrder()); len(runs) > 0 && !slices.Equal(got, []int{3, 3}) {
			t.Errorf("blocks %v", got)
		}
		cancel()
	}
}

// victimRoot names the variable with the workshop in which a lab runs until it is killed.
const victimRoot = "LINE_RATE_TEST_VICTIM"

// victim makes runs of two experiments in turns until it is killed, and reports each complete block.
func victim(root string) {
	began, err := strconv.ParseInt(os.Getenv(victimRoot+"_AT"), 10, 64)
	if err != nil {
		panic(err)
	}
	// Failures of this test are not printed; the other sees them by what is missing.
	w := &workshop{t: &testing.T{}, root: journal.Root(root), log: os.DevNull, at: time.Unix(began, 0)}
	for {
		s := w.session(Options{Again: true, Budget: 10 * time.Minute})
		var last *run.Run
		report := func() {
			if last != nil {
				fmt.Println("complete", last.File.Run, last.File.Provenance.Blocks)
			}
		}
		s.block = func(r *run.Run, ctx context.Context, begin func(int, int)) ([]results.Trial, error) {
			report() // the block before is set aside by now
			last = r
			return w.block(r, ctx, begin)
		}
		if _, err := s.Reproduce(context.Background(), s.j.Experiments, io.Discard); err != nil {
			fmt.Println("fault", err)
			os.Exit(1)
		}
		report()
	}
}

func TestAKillLosesNoCompleteBlock(t *testing.T) {
	w := newWorkshop(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	complete := map[string]int{}
	cut := 0
	for i := range 25 {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), victimRoot+"="+string(w.root),
			fmt.Sprintf("%s_AT=%d", victimRoot, w.at.Add(time.Duration(i)*20*time.Minute).Unix()))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		var errs bytes.Buffer
		cmd.Stderr = &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for first := true; lines.Scan(); first = false {
			var run string
			var n int
			if _, err := fmt.Sscanf(lines.Text(), "complete %s %d", &run, &n); err != nil {
				t.Errorf("the victim: %s", lines.Text())
				break
			}
			complete[run] = max(complete[run], n)
			if first { // at any moment within the next blocks and the end of a run
				time.AfterFunc(time.Duration(rand.Int64N(int64(60*time.Millisecond))), func() { _ = cmd.Process.Kill() })
			}
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if errs.Len() > 0 {
			t.Fatalf("%s", &errs)
		}
		if len(w.pending()) > 0 {
			cut++
		}
		s := w.session(Options{})
		if err := adopt(s.j, s.Say); err != nil {
			t.Fatal(err)
		}
	}
	runs := w.inOrder()
	have := map[string]int{}
	for _, f := range runs {
		have[f.Run] = f.Provenance.Blocks
	}
	for run, n := range complete {
		if have[run] < n {
			t.Errorf("%s: %d blocks are kept, and %d were complete", run, have[run], n)
		}
	}
	t.Logf("%d runs, %d of them cut short", len(runs), cut)
	if said := w.said(); strings.Contains(said, "cannot be kept") {
		t.Error(said)
	}
}
