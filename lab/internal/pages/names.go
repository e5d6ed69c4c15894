package pages

import (
	"maps"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// conditionName names a condition on a chart: "Workers 4, connections 100". A
// level that is a word stands alone.
func conditionName(x *experiment.Experiment, levels setting.Levels) string {
	var parts []string
	for _, factor := range inOrder(x, levels) {
		level, name := setting.LevelCell(levels[factor]), setting.Title(factor)
		if len(parts) > 0 {
			name = words.LowerFirst(name)
		}
		if !levels[factor].IsText() {
			level = name + " " + level
		}
		parts = append(parts, level)
	}
	if len(parts) == 0 {
		return "all trials"
	}
	return strings.Join(parts, ", ")
}

// inOrder lists the factors of levels as the experiment does, and then others.
func inOrder(x *experiment.Experiment, levels setting.Levels) []string {
	out := []string{}
	for _, f := range x.Factors {
		if _, ok := levels[f.Name]; ok {
			out = append(out, f.Name)
		}
	}
	other := func(name string) bool { return !slices.Contains(out, name) }
	return append(out, strict.Filter(slices.Sorted(maps.Keys(levels)), other)...)
}
