package profiles

import (
	"fmt"
	"strings"
	"testing"
)

// A recursive symbol counts once for a stack.
func TestCostliest(t *testing.T) {
	p := made("cpu/nanoseconds", map[string][]int64{"main leaf": {5e6}, "main again again": {3e6}, "other": {4e6}})
	rows, err := Costliest(p, "cpu", 3)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rows {
		got = append(got, fmt.Sprintf("%s %.0f", r.Symbol, 1e3*r.Cumulative))
	}
	if want := "main 8, leaf 5, other 4"; strings.Join(got, ", ") != want {
		t.Errorf("%v, want %s", got, want)
	}
	if _, err := Costliest(p, "heap", 3); err == nil {
		t.Error("a sample type that is not there")
	}
}
