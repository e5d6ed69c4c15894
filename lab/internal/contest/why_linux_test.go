package contest

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/proc"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/perf"
)

// why profiles servers of the tests in one round, and expects that nothing is left of it.
func why(t *testing.T, servers ...Server) (*compare.Why, error) {
	t.Helper()
	port, err := FreePorts(len(servers))
	if err != nil {
		t.Fatal(err)
	}
	o := &compare.Outcome{}
	w := Why{Scratch: t.TempDir(), rounds: 1, Bench: Bench{Client: client, Dir: t.TempDir(), Port: port, Tell: func(string) {},
		Options: Options{Looks: make([]Look, len(servers)), Path: "/", Connections: 4, Pipelining: 1, Ready: 10 * time.Second,
			Servers: servers}}}
	err = w.Add(t.Context(), o)
	if left := proc.Descendants(os.Getpid())[1:]; len(left) > 0 {
		t.Errorf("processes %v were left behind", left)
	}
	if left, failed := os.ReadDir(w.Scratch); failed != nil || len(left) > 0 {
		t.Errorf("files %v were left behind, %v", left, failed)
	}
	if err != nil && strings.Contains(err.Error(), "so few tell nothing") {
		t.Skip("the machine is too busy: ", err)
	}
	return o.Why, err
}

// names are the kinds of a comparison, which add up.
func kindsOf(t *testing.T, w *compare.Why) (names []string) {
	t.Helper()
	adds(t, w.Comparisons[0])
	for _, k := range w.Comparisons[0].Kinds {
		names = append(names, k.Kind)
	}
	return names
}

func TestAWriteMoreIsARowOfItsOwn(t *testing.T) {
	for _, c := range []struct{ by, one, two string }{{"perf", "fine", "twice"}, {"pprof", "profiles", "profiles"}} {
		if why := perf.Usable(); why != "" && c.by == "perf" {
			t.Log(why)
			continue
		}
		w, err := why(t, testServer(t, "one", c.one), testServer(t, "two", c.two))
		if err != nil {
			t.Fatal(err)
		}
		if names := kindsOf(t, w); w.Source != c.by || !slices.Contains(names, string(write)) {
			t.Errorf("by %s, want %s: %v", w.Source, c.by, names)
		}
	}
}

func TestWithoutPerfUserSpaceIsToldFromTheKernel(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	w, err := why(t, testServer(t, "one", "fine"), testServer(t, "two", "twice"))
	if err != nil {
		t.Fatal(err)
	}
	names := kindsOf(t, w)
	slices.Sort(names)
	if w.Source != "ticks" || !slices.Equal(names, []string{"kernel", "user space"}) ||
		!strings.Contains(w.Comparisons[0].Says, "as perf took no profile: perf is not installed") {
		t.Errorf("by %s: %v, %s", w.Source, names, w.Comparisons[0].Says)
	}
}

func TestAServerThatEndsWhileItIsProfiledIsNamed(t *testing.T) {
	if w, err := why(t, testServer(t, "a", "fine"), testServer(t, "b", "dies")); w != nil || err == nil ||
		!strings.HasPrefix(err.Error(), "b: it died while it was asked (exit status 9)") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%+v, %v", w, err)
	}
}
