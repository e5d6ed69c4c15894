package session

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
)

func TestARunStopsWhenItsClaimsAreDecided(t *testing.T) {
	w := newWorkshop(t)
	status, out, err := w.run(t.Context(), Options{})
	runs := w.inOrder()
	if err != nil || status != Held || !slices.Equal(blocks(runs), []int{9}) ||
		runs[0].Provenance.Ended != results.Decided {
		t.Fatalf("exit %d, %v; blocks %v\n%s", status, err, blocks(runs), out)
	}
	for _, want := range []string{counted + "/count  confirmed", "results: data/results/" + counted + "/" + runs[0].Run +
		".json\n", "\n1 of 1 claim decided here; 0 not applicable\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if said := w.said(); !strings.Contains(said, "block 9, the last (decided): ") ||
		!strings.Contains(said, " left, 1 of 1 claims decided\n") {
		t.Error(said)
	}
	// An experiment that is asked for by name is measured anyway; its blocks add up.
	status, out, err = w.run(t.Context(), Options{})
	if runs := w.inOrder(); err != nil || status != Held || !slices.Equal(blocks(runs), []int{9, 1}) {
		t.Errorf("exit %d, %v; blocks %v", status, err, blocks(runs))
	}
}

func TestARunStopsWhenItsBudgetIsSpent(t *testing.T) {
	for name, c := range map[string]struct {
		o     Options
		want  int
		ended results.Ended
	}{
		"less":   {Options{Budget: 40 * time.Second}, 3, results.Budget},
		"blocks": {Options{Blocks: 4}, 4, results.Blocks},
	} {
		w := newWorkshop(t)
		status, out, err := w.run(t.Context(), c.o)
		runs := w.inOrder()
		if err != nil || !slices.Equal(blocks(runs), []int{c.want}) || runs[0].Provenance.Ended != c.ended {
			t.Errorf("%s: exit %d, %v; blocks %v\n%s", name, status, err, blocks(runs), out)
		}
		if (status == Held) != (c.ended == results.Decided) || status > NotHeld {
			t.Errorf("%s: exit %d", name, status)
		}
	}
}

// Invalid blocks are not counted. The exit status follows the verdicts.
func TestTheStatusIsThatOfTheVerdicts(t *testing.T) {
	w := newWorkshop(t)
	w.seen = func(int64) float64 { return 9 }
	if status, out, _ := w.run(t.Context(), Options{}); status != NotHeld || !strings.Contains(out, "refuted") {
		t.Errorf("refuted: exit %d\n%s", status, out)
	}
	w = newWorkshop(t)
	w.broken = true
	if status, out, _ := w.run(t.Context(), Options{Blocks: 1}); status != NotHeld ||
		!strings.Contains(out, "in 1 of 1 block a fault refused a trial") {
		t.Errorf("invalid: exit %d\n%s", status, out)
	}
	w.broken = false
	if status, out, _ := w.run(t.Context(), Options{}); status != Held {
		t.Errorf("valid blocks later: exit %d\n%s", status, out)
	}
}

func TestReproducePassesOverWhatThisCloneDecided(t *testing.T) {
	w := newWorkshop(t)
	w.git("init", "-q")
	o := Options{Budget: 10 * time.Minute}
	status, out, err := w.reproduce(t.Context(), o)
	if runs := w.inOrder(); err != nil || status != Held || !slices.Equal(blocks(runs), []int{9, 9}) ||
		!strings.Contains(out, "2 of 2 claims decided here") {
		t.Fatalf("exit %d, %v; blocks %v\n%s", status, err, blocks(runs), out)
	}
	if said := w.said(); strings.Contains(said, "earlier") {
		t.Error(said)
	}
	// Called again, there is nothing to measure, and it prints the verdicts.
	status, out, err = w.reproduce(t.Context(), o)
	if runs := w.inOrder(); err != nil || status != Held || len(runs) != 2 ||
		!strings.Contains(out, "2 of 2 claims decided here") {
		t.Errorf("exit %d, %v; blocks %v\n%s", status, err, blocks(runs), out)
	}
	if said := w.said(); !strings.Contains(said, "runs that this clone made earlier count: 97-counted 1 (decided), 98-other 1 (decided)\n") {
		t.Error(said)
	}
	// Committed data may come from another machine of the same name. Without git the same
	// must be assumed of all data.
	w.said()
	w.git("add", "data/results/"+counted)
	if _, _, err = w.reproduce(t.Context(), o); err != nil || len(w.inOrder()) != 3 || strings.Contains(w.said(), "count: 97") {
		t.Errorf("with a committed run: %v, %d runs", err, len(w.inOrder()))
	}
	if err := os.RemoveAll(filepath.Join(string(w.root), ".git")); err != nil {
		t.Fatal(err)
	}
	if _, _, err = w.reproduce(t.Context(), o); err != nil || len(w.inOrder()) != 5 {
		t.Errorf("without git: %v, %d runs", err, len(w.inOrder()))
	}
}

func TestReproduceLeavesOutWhatTheBudgetHasNoRoomFor(t *testing.T) {
	w := newWorkshop(t)
	slow := strings.Replace(archivetest.CountedDesign("98", true), "slot_s = 1", "slot_s = 20", 1)
	w.write(filepath.Join(w.root.Experiments(), other+".toml"), slow)
	status, out, err := w.reproduce(t.Context(), Options{Budget: 160 * time.Second})
	if err != nil || status != NotHeld || len(w.inOrder()) != 1 {
		t.Errorf("exit %d, %v, %d runs", status, err, len(w.inOrder()))
	}
	for _, want := range []string{"open       not measured: it takes about ", "for which the budget has no room",
		"\n1 of 2 claims decided here; 0 not applicable\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// What refused blocks is said, with the open claims and what to do.
func TestRefusalsAreCounted(t *testing.T) {
	w := newWorkshop(t)
	w.git("init", "-q")
	w.gate = gate.HeldBack
	w.broken = true
	_, out, err := w.reproduce(t.Context(), Options{Budget: 160 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if said := w.said(); strings.Count(said, "invalid: held-back: the server exited in mid-trial\n") != 2 {
		t.Errorf("a fault is said once in a run: %s", said)
	}
	for _, want := range []string{
		"\nfaults refused trials in 23 of 23 blocks\n",
		"lab reproduce goes on from here: the blocks made in this clone count.\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// The further runs of one call draw other orders.
func TestARunThatIsFullIsFollowedByAnother(t *testing.T) {
	w := newWorkshop(t)
	w.seen = func(n int64) float64 { return float64(n) }
	w.broken = true
	if _, _, err := w.run(t.Context(), Options{Blocks: 107, Budget: time.Hour}); err != nil {
		t.Fatal(err)
	}
	if len(w.seeds) != 2 || w.seeds[0] == w.seeds[1] || !slices.Equal(blocks(w.inOrder()), []int{100, 7}) {
		t.Errorf("seeds %v, blocks %v", w.seeds, blocks(w.inOrder()))
	}
}
