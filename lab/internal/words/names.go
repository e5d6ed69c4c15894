package words

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// Metric is a metric's label inside a sentence: it begins in lower case,
// except for acronyms. A bare percentile is said to be one of latency.
func Metric(name string) string {
	m, ok := metric.Lookup(name)
	if !ok {
		return strings.ReplaceAll(name, "_", " ")
	}
	// Labels are column heads; in a sentence some need a noun.
	switch name {
	case "delivered_per_s", "logged_per_s":
		return "the rate " + LowerFirst(m.Label)
	case "limit_per_s":
		return "the highest rate delivered"
	}
	if strings.HasPrefix(name, "latency_") && !strings.Contains(strings.ToLower(m.Label), "latency") {
		return LowerFirst(m.Label) + " latency"
	}
	return LowerFirst(m.Label)
}

// LowerFirst begins a name in lower case, except for acronyms.
func LowerFirst(s string) string {
	if len(s) > 1 && unicode.IsUpper(rune(s[0])) && unicode.IsUpper(rune(s[1])) {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// UpperFirst begins a sentence.
func UpperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// Setting is a setting's name in a sentence.
func Setting(name string) string {
	for _, k := range setting.Knobs() {
		if k.Setting == name && k.Short != "" {
			return k.Short
		}
	}
	switch name {
	case setting.Rate:
		return "the rate asked"
	case setting.ServerCPUs:
		return "server CPUs"
	}
	for end := range unitWords {
		name = strings.TrimSuffix(name, end)
	}
	return strings.ReplaceAll(name, "_", " ")
}

// unitWords are the units that end the names of settings.
var unitWords = map[string]string{"_ms": " ms", "_ns": " ns", "_bytes": " bytes", "_permille": " per thousand"}

// Level is a level in a sentence: numbers have their thousands separated,
// and what is switched is on or off.
func Level(l setting.Level) string {
	if n, ok := l.Int(); ok {
		return Grouped(float64(n), 0)
	}
	if on, ok := l.Bool(); ok {
		return map[bool]string{true: "on", false: "off"}[on]
	}
	return l.String()
}

// Where limits a sentence to some levels: "where RFS is off and workers is 2".
func Where(levels setting.Levels) string {
	if len(levels) == 0 {
		return ""
	}
	return "where " + List(strict.Called(slices.Sorted(maps.Keys(levels)), func(name string) string {
		return fmt.Sprintf("%s is %s", Setting(name), Level(levels[name]))
	}))
}

// Wall names a wall in a sentence.
func Wall(bound string) string {
	switch bound {
	case "server-cpu":
		return "the server's CPU"
	case "client-cpu":
		return "the client's CPU"
	}
	return "the " + bound
}

// OwnNames are the settings that are called by a name of their own.
var OwnNames = func() map[string]string {
	names := map[string]string{setting.ServerCPUs: "Server CPUs", setting.Rate: "Rate asked"}
	for _, k := range setting.Knobs() {
		if k.Title != "" {
			names[k.Setting] = k.Title
		}
	}
	return names
}()

// SettingName is what pages call a setting: "Workers", "Client workers", "RPS".
func SettingName(name string) string {
	if own := OwnNames[name]; own != "" {
		return own
	}
	return strings.ToUpper(name[:1]) + strings.ReplaceAll(name[1:], "_", " ")
}

// LevelCell is a level as pages print it: numbers with their thousands
// separated, truth values as words.
func LevelCell(l setting.Level) string {
	if yes, ok := l.Bool(); ok {
		return map[bool]string{true: "yes", false: "no"}[yes]
	}
	return Level(l)
}

// With is a level after "with": 20 connections, sink latency 5 ms, RPS on,
// variant async.
func With(factor string, l setting.Level) string {
	_, number := l.Int()
	for end, unit := range unitWords {
		if number && strings.HasSuffix(factor, end) {
			return Setting(factor) + " " + Level(l) + unit
		}
	}
	if number && strings.HasSuffix(factor, "s") {
		return Level(l) + " " + Setting(factor)
	}
	return Setting(factor) + " " + Level(l)
}

// Again is the other level of the same factor.
func Again(factor string, l setting.Level) string {
	if _, on := l.Bool(); on {
		return Setting(factor) + " " + Level(l)
	}
	return Level(l)
}

// Bounds names the bounds of a condition's trials, the most frequent first,
// and how many trials each has if asked to.
func Bounds(bounds map[string]int, count bool) string {
	names := slices.Sorted(maps.Keys(bounds))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(bounds[b], bounds[a]) })
	for i, name := range names {
		names[i] = strings.ReplaceAll(name, "+", " + ")
		if count {
			names[i] += fmt.Sprintf(" %d", bounds[name])
		}
	}
	return strings.Join(names, ", ")
}

// Value is a number whose name ends with its unit, in the unit that suits it: 500 Mbit/s
// of a line_rate_bps.
func Value(name string, v float64) string {
	for end, unit := range map[string]string{"_bps": "bit/s", "_bytes": "B", "_s": "s"} {
		if strings.HasSuffix(name, end) {
			return Figure(unit, v, nil, nil)
		}
	}
	if v == math.Floor(v) {
		return Grouped(v, 0)
	}
	return Number(v)
}

// SettingCell is a setting's level as pages print it, with a unit if its name has one.
func SettingCell(name string, l setting.Level) string {
	if n, ok := l.Int(); ok {
		return Value(name, float64(n))
	}
	return LevelCell(l)
}
