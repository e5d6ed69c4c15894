package experiment

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/setting"
)

// Recorded runs depend on these orders; another way of drawing would make each of them wrong.
func TestWhatASeedDrawsStaysForGood(t *testing.T) {
	if got := DrawControl(4, 11); got != 0 {
		t.Errorf("seed 11 draws the control %d, want 0", got)
	}
	if got, want := DrawBlock([][]int{{0, 2, 4}, {1, 3}}, 2, 11, 1),
		[][]int{{3, 1, 3, 1}, {4, 2, 0, 2, 4, 0}}; !reflect.DeepEqual(got, want) {
		t.Errorf("seed 11 draws %v for the first block, want %v", got, want)
	}
	groups := [][]int{{0, 1, 2}}
	if !reflect.DeepEqual(DrawBlock(groups, 6, 11, 1)[0][:6], DrawBlock(groups, 2, 11, 1)[0]) {
		t.Error("the first rounds depend on how many follow")
	}
}

func TestGroupsAreOfWhatCanTakeTurns(t *testing.T) {
	levels := func(pairs ...any) setting.Levels {
		out := setting.Levels{}
		for i := 0; i < len(pairs); i += 2 {
			out[pairs[i].(string)], _ = setting.ParseLevel(pairs[i+1])
		}
		return out
	}
	own := func(pairs ...any) setting.Levels { return levels(append([]any{"generator", "http_load"}, pairs...)...) }
	events := func(pairs ...any) setting.Levels {
		return levels(append([]any{"generator", "sink", "event_rate", 2000.0}, pairs...)...)
	}
	for _, c := range []struct {
		name       string
		conditions []setting.Levels
		want       [][]int
	}{
		{"none", nil, nil},
		{"routes", []setting.Levels{own("route", "/a"), own("route", "/b"), own("route", "/a")}, [][]int{{0, 1, 2}}},
		{"a knob", []setting.Levels{own("rps", false), own("rps", true), own("rps", false)}, [][]int{{0, 2}, {1}}},
		{"a service", []setting.Levels{own("crond", false), own("crond", true)}, [][]int{{0}, {1}}},
		{"cores are each server's own", []setting.Levels{own("server_cpus", "0"), own("server_cpus", "1")}, [][]int{{0, 1}}},
		{"one client has one number of threads", []setting.Levels{own("client_workers", 1.0), own("client_workers", 2.0),
			own("client_workers", 1.0)}, [][]int{{0, 2}, {1}}},
		{"others are alone", []setting.Levels{levels("generator", "autocannon"), own(), levels(), own(),
			levels("generator", "readers")}, [][]int{{0}, {1, 3}, {2}, {4}}},
		{"events at a set rate are measured at once", []setting.Levels{events("variant", "async"), own(),
			events("variant", "batch"), own()}, [][]int{{0, 2}, {1, 3}}},
		{"events, and other cores", []setting.Levels{events("server_cpus", "0"), events("server_cpus", "1"),
			events("server_cpus", "0")}, [][]int{{0, 2}, {1}}},
	} {
		if got := Groups(c.conditions); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestABlockHasEachConditionOnceARound(t *testing.T) {
	groups, seen := [][]int{{0, 3, 5}, {1}, {2, 4}}, map[string]bool{}
	for seed := range uint64(20) {
		for block := 1; block <= 20; block++ {
			drawn := DrawBlock(groups, 4, seed, block)
			seen[fmt.Sprint(drawn)] = true
			var members [][]int
			for _, slots := range drawn {
				of := Members(slots)
				members = append(members, of)
				for round := range slices.Chunk(slots, len(of)) {
					if !slices.Equal(Members(round), of) {
						t.Fatalf("seed %d, block %d: a round of %v, want each of %v", seed, block, round, of)
					}
				}
			}
			slices.SortFunc(members, func(a, b []int) int { return a[0] - b[0] })
			if !reflect.DeepEqual(members, groups) {
				t.Fatalf("seed %d, block %d: %v, of groups %v", seed, block, drawn, groups)
			}
		}
	}
	if len(seen) < 390 {
		t.Errorf("400 blocks have %d orders", len(seen))
	}
}
