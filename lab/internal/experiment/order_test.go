package experiment

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/setting"
)

// Committed files depend on these orders; another way of drawing would make
// each of them wrong.
func TestWhatASeedGivesStaysForGood(t *testing.T) {
	if got := DrawControl(4, 11); got != 0 {
		t.Errorf("seed 11 draws the control %d, want 0", got)
	}
}

// One condition is measured twice, and the seed decides which.
func TestTheControlIsDrawn(t *testing.T) {
	seen := map[int]int{}
	for seed := range uint64(300) {
		drawn := DrawControl(3, seed)
		if again := DrawControl(3, seed); again != drawn {
			t.Fatalf("one seed drew two controls, %d and %d", drawn, again)
		}
		seen[drawn]++
	}
	for c := range 3 {
		if seen[c] < 60 {
			t.Errorf("condition %d was drawn %d times of 300", c, seen[c])
		}
	}
}

func levels(t *testing.T, pairs ...any) setting.Levels {
	t.Helper()
	out := setting.Levels{}
	for i := 0; i < len(pairs); i += 2 {
		l, err := setting.ParseLevel(pairs[i+1])
		if err != nil {
			t.Fatal(err)
		}
		out[pairs[i].(string)] = l
	}
	return out
}

func TestGroupsAreOfWhatCanTakeTurns(t *testing.T) {
	own := func(pairs ...any) setting.Levels {
		return levels(t, append([]any{"generator", "http_load"}, pairs...)...)
	}
	events := func(pairs ...any) setting.Levels {
		return levels(t, append([]any{"generator", "sink", "event_rate", 2000}, pairs...)...)
	}
	for _, c := range []struct {
		name       string
		conditions []setting.Levels
		want       [][]int
	}{
		{"none", nil, nil},
		{"routes", []setting.Levels{own("route", "/a"), own("route", "/b"), own("route", "/a")}, [][]int{{0, 1, 2}}},
		{"rps", []setting.Levels{own("rps", false), own("rps", true), own("rps", false)}, [][]int{{0, 2}, {1}}},
		{"rfs", []setting.Levels{own("rfs", false), own("rfs", true)}, [][]int{{0}, {1}}},
		{"irq", []setting.Levels{own("irq", "default"), own("irq", "pinned")}, [][]int{{0}, {1}}},
		{"irqbalance", []setting.Levels{own("irqbalance", false), own("irqbalance", true)}, [][]int{{0}, {1}}},
		{"crond", []setting.Levels{own("crond", false), own("crond", true)}, [][]int{{0}, {1}}},
		{"cores are each server's own", []setting.Levels{own("server_cpus", "0"), own("server_cpus", "1")}, [][]int{{0, 1}}},
		{"one process has one number of threads",
			[]setting.Levels{own("client_workers", 1), own("client_workers", 2), own("client_workers", 1)},
			[][]int{{0, 2}, {1}}},
		{"others", []setting.Levels{levels(t, "generator", "autocannon"), own(), levels(t), own(),
			levels(t, "generator", "sink")}, [][]int{{0}, {1, 3}, {2}, {4}}},
		{"events at a set rate are measured at once",
			[]setting.Levels{events("variant", "async"), own(), events("variant", "batch"), own(), events("variant", "async")},
			[][]int{{0, 2, 4}, {1, 3}}},
		{"who looks for the limit is alone", []setting.Levels{events("event_rate", 0), events("event_rate", 10),
			events("event_rate", 20), events("event_rate", 0)}, [][]int{{0}, {1, 2}, {3}}},
		{"events, and the machine's knobs", []setting.Levels{events("crond", false), events("crond", true),
			events("crond", false)}, [][]int{{0, 2}, {1}}},
		{"events, and other cores", []setting.Levels{events("server_cpus", "0"), events("server_cpus", "1"),
			events("server_cpus", "0")}, [][]int{{0, 2}, {1}}},
	} {
		if got := Groups(c.conditions); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestABlockHasEachConditionOnceARound(t *testing.T) {
	groups := [][]int{{0, 3, 5}, {1}, {2, 4}}
	const rounds = 4
	for seed := range uint64(20) {
		for block := 1; block <= 20; block++ {
			got := DrawBlock(groups, rounds, seed, block)
			if len(got) != len(groups) {
				t.Fatalf("seed %d, block %d: %d groups", seed, block, len(got))
			}
			seen := map[int]bool{}
			for _, slots := range got {
				g := slices.IndexFunc(groups, func(g []int) bool { return slices.Contains(g, slots[0]) })
				if seen[g] || len(slots) != rounds*len(groups[g]) {
					t.Fatalf("seed %d, block %d: %v, of groups %v", seed, block, got, groups)
				}
				seen[g] = true
				for round := range slices.Chunk(slots, len(groups[g])) {
					if sorted := slices.Sorted(slices.Values(round)); !slices.Equal(sorted, groups[g]) {
						t.Fatalf("seed %d, block %d: a round of %v, want each of %v", seed, block, round, groups[g])
					}
				}
			}
		}
	}
	if !reflect.DeepEqual(groups, [][]int{{0, 3, 5}, {1}, {2, 4}}) {
		t.Errorf("the caller's groups were changed: %v", groups)
	}
	if got := DrawBlock(nil, 3, 1, 1); len(got) != 0 {
		t.Errorf("no groups give %v", got)
	}
}

// A longer run must not have its first blocks drawn differently, and two
// blocks, or two seeds, must not share an order.
func TestABlocksOrderIsItsOwn(t *testing.T) {
	groups := [][]int{{0, 1, 2, 3, 4, 5}}
	if !reflect.DeepEqual(DrawBlock(groups, 6, 11, 3), DrawBlock(groups, 6, 11, 3)) {
		t.Error("one seed and block gave two orders")
	}
	seen := map[string]bool{}
	for seed := range uint64(10) {
		for block := 1; block <= 10; block++ {
			seen[fmt.Sprint(DrawBlock(groups, 6, seed, block))] = true
		}
	}
	if len(seen) != 100 {
		t.Errorf("100 blocks of 36 slots have %d orders", len(seen))
	}
	if !reflect.DeepEqual(DrawBlock(groups, 6, 11, 1)[0][:12], DrawBlock(groups, 2, 11, 1)[0]) {
		t.Error("the first rounds depend on how many follow")
	}
}

func TestEveryOrderIsAsLikely(t *testing.T) {
	groups, rounds := map[string]int{}, map[string]int{}
	const n = 6000
	for block := 1; block <= n; block++ {
		drawn := DrawBlock([][]int{{0, 1, 2}, {3}, {4}}, 2, 11, block)
		firsts := ""
		for _, slots := range drawn {
			if len(slots) > 2 {
				for round := range slices.Chunk(slots, 3) {
					rounds[fmt.Sprint(round)]++
				}
				firsts += "g"
				continue
			}
			firsts += fmt.Sprint(slots[0])
		}
		groups[firsts]++
	}
	// Six orders each: 1000 and 2000 are expected, with standard deviations of 29
	// and 41. Chance never reaches five of them.
	if len(groups) != 6 || len(rounds) != 6 {
		t.Fatalf("%d orders of groups and %d of a round, want 6 each", len(groups), len(rounds))
	}
	for order, k := range groups {
		if k < 855 || k > 1145 {
			t.Errorf("groups came as %s in %d of %d blocks", order, k, n)
		}
	}
	for order, k := range rounds {
		if k < 1795 || k > 2205 {
			t.Errorf("a round came as %s %d times of %d", order, k, 2*n)
		}
	}
}

// Committed files depend on these orders.
func TestWhatABlockIsStaysForGood(t *testing.T) {
	if got, want := DrawBlock([][]int{{0, 2, 4}, {1, 3}}, 2, 11, 1),
		[][]int{{3, 1, 3, 1}, {4, 2, 0, 2, 4, 0}}; !reflect.DeepEqual(got, want) {
		t.Errorf("seed 11 draws %v for the first block, want %v", got, want)
	}
}
