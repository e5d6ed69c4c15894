package main

import (
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
)

func TestBudgets(t *testing.T) {
	xs := func(n int) (out []*experiment.Experiment) {
		for range n {
			out = append(out, &experiment.Experiment{BudgetS: 60})
		}
		return out
	}
	for _, c := range []struct {
		n       int
		entries string
		all     bool
		want    time.Duration
	}{
		{1, "01", false, 150 * time.Second}, {2, "", false, 150 * time.Second}, {9, "", false, 225 * time.Second},
		{9, "01", false, 9 * time.Minute}, {9, "", true, 9 * time.Minute}, {90, "", true, 24 * time.Minute},
	} {
		if got := budgetOf(xs(c.n), strings.Fields(c.entries), c.all); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
