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
	d, _ := find(name)
	if d.Phrase != "" {
		return d.Phrase
	}
	if d.Unit != "" {
		name = name[:strings.LastIndex(name, "_")]
	}
	return strings.ReplaceAll(name, "_", " ")
}

// Title is what pages call a setting: "Workers", "Client workers", "RPS".
func Title(name string) string {
	if d, _ := find(name); d.Title != "" {
		return d.Title
	}
	return words.UpperFirst(strings.ReplaceAll(name, "_", " "))
}

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

// LevelCell is a level as pages print it: numbers with their thousands
// separated, truth values as words.
func LevelCell(l Level) string {
	if yes, ok := l.Bool(); ok {
		return map[bool]string{true: "yes", false: "no"}[yes]
	}
	return LevelPhrase(l)
}

// LimitTo limits a sentence to some levels: "where RFS is off and workers is 2".
func LimitTo(levels Levels) string {
	if len(levels) == 0 {
		return ""
	}
	return "where " + words.List(strict.Map(slices.Sorted(maps.Keys(levels)), func(name string) string {
		return fmt.Sprintf("%s is %s", Phrase(name), LevelPhrase(levels[name]))
	}))
}

// JoinLevel is a setting at a level, after "with": 20 connections, sink latency 5 ms, RPS on,
// variant async.
func JoinLevel(name string, l Level) string {
	d, _ := find(name)
	_, number := l.Int()
	switch {
	case number && d.Unit != "":
		return Phrase(name) + " " + LevelPhrase(l) + " " + d.Unit
	case number && strings.HasSuffix(name, "s"):
		return LevelPhrase(l) + " " + Phrase(name)
	}
	return Phrase(name) + " " + LevelPhrase(l)
}

// JoinOther is the other level of the same setting.
func JoinOther(name string, l Level) string {
	if _, switched := l.Bool(); switched {
		return Phrase(name) + " " + LevelPhrase(l)
	}
	return LevelPhrase(l)
}
