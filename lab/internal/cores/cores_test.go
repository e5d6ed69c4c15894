package cores

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestDivideGivesTheServerNeverTheLargerHalf(t *testing.T) {
	for _, c := range []struct {
		name           string
		groups         [][]int
		server, client []int
	}{
		{"no core", nil, nil, nil},
		{"one core", [][]int{{0}}, nil, nil},
		{"one core of two threads cannot be divided", [][]int{{0, 1}}, nil, nil},
		{"two", [][]int{{0}, {1}}, []int{0}, []int{1}},
		{"three: the odd one is the client's", [][]int{{0}, {1}, {2}}, []int{0}, []int{1, 2}},
		{"four", [][]int{{0}, {1}, {2}, {3}}, []int{0, 1}, []int{2, 3}},
		{"eight", [][]int{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}}, []int{0, 1, 2, 3}, []int{4, 5, 6, 7}},
		{"four of two threads, numbered apart", [][]int{{0, 4}, {1, 5}, {2, 6}, {3, 7}}, []int{0, 1, 4, 5},
			[]int{2, 3, 6, 7}},
		{"two of two threads, numbered together", [][]int{{0, 1}, {2, 3}}, []int{0, 1}, []int{2, 3}},
	} {
		s := Divide(c.groups)
		if !slices.Equal(s.Server, c.server) || !slices.Equal(s.Client, c.client) {
			t.Errorf("%s: server %v, client %v; want %v, %v", c.name, s.Server, s.Client, c.server, c.client)
		}
		// On covers each core, whether one side has it alone or both share it.
		server, client := s.On()
		all := slices.Concat(c.groups...)
		slices.Sort(all)
		if apart := len(c.server) > 0; apart && (!slices.Equal(server, c.server) || !slices.Equal(client, c.client)) ||
			!apart && (!slices.Equal(server, all) || !slices.Equal(client, all)) {
			t.Errorf("%s: the server is on %v, the client on %v", c.name, server, client)
		}
	}
}

// tree makes a directory as Linux shows its CPUs, so that tests do not depend
// on the machine they run on.
func tree(t *testing.T, siblings map[int]string) string {
	t.Helper()
	sys := t.TempDir()
	for cpu, list := range siblings {
		dir := filepath.Join(sys, fmt.Sprintf("cpu%d", cpu), "topology")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "thread_siblings_list"), []byte(list+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return sys
}

func TestGroupsKeepsSiblingsTogether(t *testing.T) {
	apart := map[int]string{0: "0,4", 1: "1,5", 2: "2,6", 3: "3,7", 4: "0,4", 5: "1,5", 6: "2,6", 7: "3,7"}
	for _, c := range []struct {
		name     string
		siblings map[int]string
		allowed  []int
		want     [][]int
	}{
		{"threads numbered apart", apart, []int{0, 1, 2, 3, 4, 5, 6, 7}, [][]int{{0, 4}, {1, 5}, {2, 6}, {3, 7}}},
		{"threads numbered together", map[int]string{0: "0-1", 1: "0-1", 2: "2-3", 3: "2-3"}, []int{0, 1, 2, 3},
			[][]int{{0, 1}, {2, 3}}},
		{"one thread a core", map[int]string{0: "0", 1: "1"}, []int{0, 1}, [][]int{{0}, {1}}},
		// A container may have only one thread of a core.
		{"siblings that are not allowed are left out", apart, []int{0, 1, 5}, [][]int{{0}, {1, 5}}},
		{"a machine that says nothing of siblings", nil, []int{0, 1, 2}, [][]int{{0}, {1}, {2}}},
		{"a machine that says it of some", map[int]string{0: "0,2", 2: "0,2"}, []int{0, 1, 2}, [][]int{{0, 2}, {1}}},
		{"nothing allowed", apart, nil, nil},
	} {
		if got := Groups(tree(t, c.siblings), c.allowed); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v; want %v", c.name, got, c.want)
		}
	}
}

func TestParseReadsTheKernelsLists(t *testing.T) {
	for list, want := range map[string][]int{
		"0": {0}, "0-3": {0, 1, 2, 3}, "0-1,8": {0, 1, 8}, "2,0": {2, 0}, "5-5": {5}, "0,2-3,7": {0, 2, 3, 7},
		"65536": {65536},
	} {
		if got, err := Parse(list); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v; want %v", list, got, err, want)
		}
	}
	for _, list := range []string{
		"", " ", ",", "0,", ",0", "0,,1", "a", "0-", "-1", "-", "0--1", "3-1", "0-1-2", "0 1", "0, 1", "0\n", "1.5", "0x1",
		"65537", "0-4294967295", "99999999999999999999",
	} {
		if got, err := Parse(list); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", list)) {
			t.Errorf("%q: %v, %v; want a refusal that quotes it", list, got, err)
		}
	}
}

func TestAMaskIsWhatTheKernelPrints(t *testing.T) {
	for _, c := range []struct {
		list     string
		possible int
		want     string
	}{
		{"0", 1, "1"}, {"4", 5, "10"}, {"6-7", 8, "c0"}, {"0", 32, "00000001"}, {"0", 33, "0,00000001"}, {"32", 33, "1,00000000"},
		{"64", 72, "01,00000000,00000000"}, {"112-127", 128, "ffff0000,00000000,00000000,00000000"},
		{"0-111", 128, "0000ffff,ffffffff,ffffffff,ffffffff"},
	} {
		cpus, err := Parse(c.list)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Mask(cpus, c.possible); err != nil || got != c.want {
			t.Errorf("%s of %d: %q, %v; want %q", c.list, c.possible, got, err, c.want)
		}
	}
	if got, err := Mask(nil, 40); err != nil || got != "00,00000000" {
		t.Errorf("no CPU: %q, %v", got, err)
	}
	for _, c := range []struct{ cpu, possible int }{{1, 1}, {-1, 8}, {128, 128}, {0, 0}} {
		if got, err := Mask([]int{c.cpu}, c.possible); err == nil {
			t.Errorf("CPU %d of %d is written %q", c.cpu, c.possible, got)
		}
	}
}

// From a list to a mask and to text, and back, for every number of cores.
func TestAListBecomesAMaskAndTheListAgain(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 8))
	for possible := 1; possible <= 1024; possible++ {
		cpus := []int{possible - 1}
		for c := range possible - 1 {
			if r.IntN(2) == 0 {
				cpus = append(cpus, c)
			}
		}
		slices.Sort(cpus)
		mask, err := Mask(cpus, possible)
		number, ok := new(big.Int).SetString(strings.ReplaceAll(mask, ",", ""), 16)
		if err != nil || !ok {
			t.Fatalf("%s of %d became %q, %v", Format(cpus), possible, mask, err)
		}
		var back []int
		for bit := range number.BitLen() {
			if number.Bit(bit) == 1 {
				back = append(back, bit)
			}
		}
		if listed, err := Parse(Format(cpus)); err != nil || !slices.Equal(back, cpus) || !slices.Equal(listed, cpus) {
			t.Fatalf("%s of %d became %q and then %v, and is listed as %v (%v)", Format(cpus), possible, mask, back, listed, err)
		}
	}
}

func TestFormatShortensRuns(t *testing.T) {
	for want, cpus := range map[string][]int{
		"": nil, "3": {3}, "0-1": {0, 1}, "0-3": {0, 1, 2, 3}, "0,2": {0, 2}, "0-1,8": {0, 1, 8}, "1,3-5,7": {1, 3, 4, 5, 7},
	} {
		if got := Format(cpus); got != want {
			t.Errorf("%v is written %q, want %q", cpus, got, want)
		}
	}
}
