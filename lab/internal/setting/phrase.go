package setting

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// Phrase is a setting's name in a sentence.
func Phrase(name string) string {
	for _, k := range Knobs() {
		if k.Setting == name && k.Short != "" {
			return k.Short
		}
	}
	switch name {
	case Rate:
		return "the rate asked"
	case ServerCPUs:
		return "server CPUs"
	}
	for end := range unitWords {
		name = strings.TrimSuffix(name, end)
	}
	return strings.ReplaceAll(name, "_", " ")
}

// unitWords are the units that end the names of settings.
var unitWords = map[string]string{"_ms": " ms", "_ns": " ns", "_bytes": " bytes", "_permille": " per thousand"}

// LevelPhrase is a level in a sentence: numbers have their thousands separated,
// and what is switched is on or off.
func LevelPhrase(l Level) string {
	if n, ok := l.Int(); ok {
		return words.Grouped(float64(n), 0)
	}
	if on, ok := l.Bool(); ok {
		return map[bool]string{true: "on", false: "off"}[on]
	}
	return l.String()
}

// Where limits a sentence to some levels: "where RFS is off and workers is 2".
func Where(levels Levels) string {
	if len(levels) == 0 {
		return ""
	}
	return "where " + words.List(strict.Called(slices.Sorted(maps.Keys(levels)), func(name string) string {
		return fmt.Sprintf("%s is %s", Phrase(name), LevelPhrase(levels[name]))
	}))
}

// OwnNames are the settings that are called by a name of their own.
var OwnNames = func() map[string]string {
	names := map[string]string{ServerCPUs: "Server CPUs", Rate: "Rate asked"}
	for _, k := range Knobs() {
		if k.Title != "" {
			names[k.Setting] = k.Title
		}
	}
	return names
}()

// Title is what pages call a setting: "Workers", "Client workers", "RPS".
func Title(name string) string {
	if own := OwnNames[name]; own != "" {
		return own
	}
	return strings.ToUpper(name[:1]) + strings.ReplaceAll(name[1:], "_", " ")
}

// LevelCell is a level as pages print it: numbers with their thousands
// separated, truth values as words.
func LevelCell(l Level) string {
	if yes, ok := l.Bool(); ok {
		return map[bool]string{true: "yes", false: "no"}[yes]
	}
	return LevelPhrase(l)
}

// With is a level after "with": 20 connections, sink latency 5 ms, RPS on,
// variant async.
func With(factor string, l Level) string {
	_, number := l.Int()
	for end, unit := range unitWords {
		if number && strings.HasSuffix(factor, end) {
			return Phrase(factor) + " " + LevelPhrase(l) + unit
		}
	}
	if number && strings.HasSuffix(factor, "s") {
		return LevelPhrase(l) + " " + Phrase(factor)
	}
	return Phrase(factor) + " " + LevelPhrase(l)
}

// Again is the other level of the same factor.
func Again(factor string, l Level) string {
	if _, on := l.Bool(); on {
		return Phrase(factor) + " " + LevelPhrase(l)
	}
	return LevelPhrase(l)
}

// Cell is a setting's level as pages print it, with a unit if its name has one.
func Cell(name string, l Level) string {
	if n, ok := l.Int(); ok {
		return words.Value(name, float64(n))
	}
	return LevelCell(l)
}
