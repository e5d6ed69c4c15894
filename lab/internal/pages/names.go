package pages

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// ConditionName names a condition on a chart: "Workers 4, connections 100". A
// level that is a word stands alone.
func ConditionName(x *experiment.Experiment, levels setting.Levels) string {
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

var ending = regexp.MustCompile(`[0-9a-f]{8}$`)

// HostNames names machines as pages do. Two of one model have the same name; each of them then has the end of its id
// beside it, or the whole id where that end is not enough.
func HostNames(hosts map[string]*host.Profile) map[string]string {
	forms := []func(*host.Profile) string{
		func(h *host.Profile) string { return h.Name },
		func(h *host.Profile) string {
			return fmt.Sprintf("%s (%s)", h.Name, cmp.Or(ending.FindString(h.ID), h.ID))
		},
		func(h *host.Profile) string { return fmt.Sprintf("%s (%s)", h.Name, h.ID) },
	}
	names := map[string]string{}
	for _, form := range forms {
		count := map[string]int{}
		for _, h := range hosts {
			count[form(h)]++
		}
		for id, h := range hosts {
			if name := form(h); names[id] == "" && count[name] == 1 {
				names[id] = name
			}
		}
	}
	return names
}
