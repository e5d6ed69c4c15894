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

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/run"
)

// leave leaves a run of so many blocks pending, as a killed lab does.
func (w *workshop) leave(n int) *results.File {
	w.t.Helper()
	b := w.session(Options{})
	x, err := b.j.Experiment(counted)
	if err != nil {
		w.t.Fatal(err)
	}
	p := b.Plan(x)
	p.Budget, p.Seed = time.Minute, 3
	f := w.blank(p)
	for range n {
		w.block(f)
		if err := setAside(w.root, b.profile, &run.Made{File: f}); err != nil {
			w.t.Fatal(err)
		}
	}
	w.at = w.at.Add(time.Minute)
	return f
}

func (w *workshop) pending() (out []string) {
	dirs, _ := filepath.Glob(filepath.Join(w.root.Pending(), "*", "*"))
	for _, d := range dirs {
		rel, _ := filepath.Rel(w.root.Pending(), d)
		out = append(out, rel)
	}
	return out
}

func TestEachBlockReplacesTheVersionBefore(t *testing.T) {
	w := newWorkshop(t)
	f := w.leave(3)
	if got := w.pending(); !slices.Equal(got, []string{counted + "/" + f.Run + ".0003"}) {
		t.Errorf("pending: %v", got)
	}
	if err := forget(w.root, f, ""); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(w.root.Pending()); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// Whenever the lab is killed, the next lab finds one of these states.
func TestWhatAKilledLabLeftIsKept(t *testing.T) {
	in := func(w *workshop, f *results.File) journal.Root { return version(w.root, f) }
	for name, spoil := range map[string]func(w *workshop, f *results.File){
		"between blocks": func(*workshop, *results.File) {},
		"while a version was written": func(w *workshop, f *results.File) {
			w.write(filepath.Join(w.root.Pending(), counted, halfWritten, "data", "results", counted, f.Run+".json"), "{")
			w.write(filepath.Join(w.root.Pending(), counted, halfWritten, "staged-1"), "{")
		},
		"before the last version was removed": func(w *workshop, f *results.File) {
			was := filepath.Join(w.root.Pending(), counted, f.Run+".0006")
			if err := os.CopyFS(was, os.DirFS(string(in(w, f)))); err != nil {
				w.t.Fatal(err)
			}
			w.write(journal.Root(was).Result(counted, f.Run), "{")
		},
		"when all but the results were in place": func(w *workshop, f *results.File) {
			if err := os.CopyFS(filepath.Join(string(w.root), "data"),
				os.DirFS(filepath.Join(string(in(w, f)), "data"))); err != nil {
				w.t.Fatal(err)
			}
			if err := os.Remove(w.root.Result(counted, f.Run)); err != nil {
				w.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkshop(t)
			f := w.leave(7)
			spoil(w, f)
			finished := f.Provenance.FinishedAt
			if _, _, err := w.run(context.Background(), Options{}); err != nil {
				t.Fatal(err)
			}
			runs := w.inOrder()
			if !slices.Equal(blocks(runs), []int{7, 2}) {
				t.Fatalf("blocks %v", blocks(runs))
			}
			if p := runs[0].Provenance; p.Ended != results.Interrupted || !p.FinishedAt.Equal(finished) {
				t.Errorf("ended %q at %v, want interrupted at %v", p.Ended, p.FinishedAt, finished)
			}
			if said := w.said(); !strings.Contains(said, "kept 7 blocks of a run of 97-counted that was cut short\n") {
				t.Error(said)
			}
		})
	}
}

// A run that was complete when the lab was killed keeps its end.
func TestARunThatWasOverKeepsItsEnd(t *testing.T) {
	w := newWorkshop(t)
	f := w.leave(6)
	b := w.session(Options{})
	f.Provenance.Ended = results.Decided
	if err := forget(w.root, f, ""); err != nil {
		t.Fatal(err)
	}
	if err := setAside(w.root, b.profile, &run.Made{File: f}); err != nil {
		t.Fatal(err)
	}
	if _, err := Adopt(b.j, "", b.Say); err != nil {
		t.Fatal(err)
	}
	if runs := b.j.Runs; len(runs) != 1 || runs[0].Provenance.Ended != results.Decided {
		t.Errorf("%d runs", len(runs))
	}
}

// The run was in the journal already, and only its pending copy was left.
func TestARunIsNotKeptTwice(t *testing.T) {
	w := newWorkshop(t)
	f := w.leave(3)
	b := w.session(Options{})
	f.Provenance.Ended = results.Budget
	if err := keep(b.j, b.profile, &run.Made{File: f}); err != nil {
		t.Fatal(err)
	}
	w.said()
	if _, _, err := w.run(context.Background(), Options{}); err != nil {
		t.Fatal(err)
	}
	if runs := w.inOrder(); len(runs) != 2 || runs[0].Provenance.Ended != results.Budget {
		t.Errorf("%d runs", len(runs))
	}
	if said := w.said(); strings.Contains(said, "kept") {
		t.Error(said)
	}
}

func TestWhatTheJournalWouldRefuseIsMovedAside(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(w *workshop, at journal.Root, f *results.File)
		want  string
	}{
		"cut short": {func(w *workshop, at journal.Root, f *results.File) {
			w.write(at.Result(counted, f.Run), "{\n")
		}, "line 2"},
		"changed": {func(w *workshop, at journal.Root, f *results.File) {
			text, _ := os.ReadFile(at.Result(counted, f.Run))
			w.write(at.Result(counted, f.Run), strings.Replace(string(text), `"seed": 3`, `"seed": 4`, 1))
		}, "but the seed draws"},
		"whose claim was changed since": {func(w *workshop, at journal.Root, f *results.File) {
			path := filepath.Join(w.root.Experiments(), counted+".toml")
			text, _ := os.ReadFile(path)
			w.write(path, strings.Replace(string(text), `equals = "workers"`, "equals = \"workers\"\nplus = 1", 1))
		}, `claim "count" was changed after`},
		"of an experiment that is gone": {func(w *workshop, at journal.Root, f *results.File) {
			os.Rename(filepath.Join(w.root.Experiments(), counted+".toml"),
				filepath.Join(w.root.Experiments(), "96-renamed.toml"))
		}, `no experiment "97-counted"`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkshop(t)
			f := w.leave(3)
			c.spoil(w, version(w.root, f), f)
			b := w.session(Options{})
			if _, err := Adopt(b.j, "", b.Say); err != nil {
				t.Fatal(err)
			}
			aside := "refused/" + counted + "." + f.Run + ".0003"
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
			for _, kind := range []string{"results", "designs", "hosts", "profiles"} {
				if left, _ := filepath.Glob(filepath.Join(string(w.root), "data", kind, "*")); len(left) > 0 {
					t.Errorf("in data/: %v", left)
				}
			}
			again := w.session(Options{})
			if added, err := Adopt(again.j, "", again.Say); err != nil || len(added) > 0 || w.said() != "" {
				t.Errorf("once more: %d, %v", len(added), err)
			}
		})
	}
}

// Files that are no version of a run stop nothing.
func TestStrangeFilesAmongPendingRuns(t *testing.T) {
	w := newWorkshop(t)
	w.write(filepath.Join(w.root.Pending(), "README"), "?")
	w.write(filepath.Join(w.root.Pending(), counted, "notes"), "?")
	b := w.session(Options{})
	if added, err := Adopt(b.j, "", b.Say); err != nil || len(added) > 0 {
		t.Errorf("%d, %v", len(added), err)
	}
}

func TestAnInterruptedRunKeepsItsCompleteBlocks(t *testing.T) {
	for _, n := range []int{0, 3} {
		w := newWorkshop(t)
		ctx, cancel := context.WithCancel(context.Background())
		if w.fail, w.cancel = n, cancel; n == 0 {
			cancel()
		}
		_, out, err := w.run(ctx, Options{})
		runs := w.inOrder()
		if err == nil || len(runs) != min(n, 1) {
			t.Fatalf("after %d: %v, %d runs", n, err, len(runs))
		}
		want := map[int]string{0: "97-counted: interrupted; this experiment left nothing behind",
			3: "97-counted: interrupted; 3 complete blocks are kept"}[n]
		if err.Error() != want {
			t.Errorf("%q, want %q", err, want)
		}
		if n > 0 && (!slices.Equal(blocks(runs), []int{n}) || runs[0].Provenance.Ended != results.Interrupted ||
			!strings.Contains(out, "0 of 1 claim decided here")) {
			t.Errorf("blocks %v, %s", blocks(runs), out)
		}
		// The next run goes on from there.
		w.fail, w.cancel = 0, nil
		w.at = w.at.Add(time.Minute)
		if _, _, err := w.run(context.Background(), Options{}); err != nil {
			t.Fatal(err)
		}
		if got, want := blocks(w.inOrder()), []int{3, 3}; n > 0 && !slices.Equal(got, want) {
			t.Errorf("blocks %v, want %v", got, want)
		}
	}
}

// A run that fails keeps the blocks that were complete before, unless nothing was
// measured.
func TestAFailedRunKeepsItsCompleteBlocks(t *testing.T) {
	for _, broken := range []bool{false, true} {
		w := newWorkshop(t)
		w.fail, w.broken = 3, broken
		_, _, err := w.run(context.Background(), Options{})
		if err == nil || !strings.Contains(err.Error(), "a cable was pulled") {
			t.Fatal(err)
		}
		want := map[bool][]int{false: {3}}[broken]
		if got := blocks(w.inOrder()); !slices.Equal(got, want) {
			t.Errorf("broken %v: blocks %v, want %v", broken, got, want)
		}
	}
}

// victimRoot names the variable with the workshop in which a lab runs until it is killed.
const victimRoot = "LINE_RATE_TEST_VICTIM"

// victim makes runs of two experiments in turns until it is killed, and reports each
// complete block.
func victim(root string) {
	began, err := strconv.ParseInt(os.Getenv(victimRoot+"_AT"), 10, 64)
	if err != nil {
		panic(err)
	}
	t := &testing.T{} // its failures are not printed; the test sees them by what is missing
	w := &workshop{t: t, root: journal.Root(root), at: time.Unix(began, 0)}
	nobody, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		panic(err)
	}
	for {
		j, faults, err := archive.Open(w.root)
		if err != nil || len(faults) > 0 {
			fmt.Println("fault", err, faults)
			os.Exit(1)
		}
		b := &Session{Options: Options{Again: true, Budget: 10 * time.Minute}, Progress: newProgress(nobody), j: j,
			profile: machine(j), self: "lab", ready: func(run.Plan) error { return nil }, now: func() time.Time { return w.at },
			sleep: w.sleep}
		b.do = func(ctx context.Context, p run.Plan, watch run.Watcher) (*run.Made, error) {
			keep := p.Keep
			p.Keep = func(made *run.Made) error {
				err := keep(made)
				fmt.Println("complete", made.File.Run, made.File.Provenance.Blocks)
				return err
			}
			return w.do(ctx, p, watch)
		}
		if _, err := b.Reproduce(context.Background(), j.Experiments, io.Discard); err != nil {
			fmt.Println("fault", err)
			os.Exit(1)
		}
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
			complete[run] = n
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
		b := w.session(Options{})
		if _, err := Adopt(b.j, "", b.Say); err != nil {
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
