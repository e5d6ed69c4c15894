package verdict

import (
	"maps"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// conditionName names a condition on a chart: "Workers 4, connections 100". A
// level that is a word stands alone.
func conditionName(x *experiment.Experiment, levels setting.Levels) string {
	var words []string
	for _, factor := range inOrder(x, levels) {
		level, name := shownLevel(levels[factor]), factorName(factor)
		if len(words) > 0 && ownNames[factor] == "" {
			name = strings.ToLower(name)
		}
		if !levels[factor].IsText() {
			level = name + " " + level
		}
		words = append(words, level)
	}
	if len(words) == 0 {
		return "all trials"
	}
	return strings.Join(words, ", ")
}

// inOrder lists the factors of levels as the experiment does, and then others.
func inOrder(x *experiment.Experiment, levels setting.Levels) []string {
	out := []string{}
	for _, f := range x.Factors {
		if _, ok := levels[f.Name]; ok {
			out = append(out, f.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(levels)) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// ownNames are the settings that are called by a name of their own.
var ownNames = map[string]string{
	setting.IRQ: "IRQs", setting.RPS: "RPS", setting.RFS: "RFS", setting.IRQBalance: "irqbalance",
	setting.ServerCPUs: "Server CPUs", setting.Rate: "Rate asked",
}

// factorName is what pages call a setting: "Workers", "Client workers", "RPS".
func factorName(name string) string {
	if own := ownNames[name]; own != "" {
		return own
	}
	return strings.ToUpper(name[:1]) + strings.ReplaceAll(name[1:], "_", " ")
}

// shownLevel is a level as pages print it: numbers with their thousands
// separated, truth values as words.
func shownLevel(l setting.Level) string {
	if n, ok := l.Int(); ok {
		return grouped(float64(n), 0)
	}
	if on, ok := l.Bool(); ok {
		return map[bool]string{true: "yes", false: "no"}[on]
	}
	return l.String()
}
