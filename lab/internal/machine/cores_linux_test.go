package machine

import (
	"fmt"
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
		files := tree{}
		for cpu, list := range c.siblings {
			files[fmt.Sprintf("cpu%d/topology/thread_siblings_list", cpu)] = list
		}
		if got := Groups(files.write(t), c.allowed); !reflect.DeepEqual(got, c.want) {
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

func TestFormatShortensRuns(t *testing.T) {
	for want, cpus := range map[string][]int{
		"": nil, "3": {3}, "0-1": {0, 1}, "0-3": {0, 1, 2, 3}, "0,2": {0, 2}, "0-1,8": {0, 1, 8}, "1,3-5,7": {1, 3, 4, 5, 7},
	} {
		if got := Format(cpus); got != want {
			t.Errorf("%v is written %q, want %q", cpus, got, want)
		}
	}
}
