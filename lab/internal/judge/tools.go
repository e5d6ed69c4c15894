package judge

import (
	_ "embed" // tools.toml
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A tool is a load generator whose output is read as it prints it; tools.toml says what its fields mean.
type tool struct {
	Name, Mark, Begins      string
	Headless, Alone, Binary bool
	Times                   string
	Row                     law.Row
	Lines                   []string
	lines                   []*regexp.Regexp
}

// A printer is a load generator whose JSON is read.
type printer struct {
	tool
	Has, Quantiles, Codes string
	Paths                 map[string]string
}

// groups name figures in patterns.
var groups = map[string]law.Figure{"rate": law.Rate, "requests": law.Requests, "duration": law.Duration, "mean": law.Average,
	"min": law.Least, "max": law.Greatest, "stdev": law.Deviation, "connections": law.Connections, "depth": law.Depth,
	"bytes": law.Bytes, "byterate": law.ByteRate, "good": law.Good, "bad": law.Bad, "fails": law.Fails, "body": law.Body,
	"cores": law.Cores, "busy": law.Busy, "line": law.LineRate}

// abbreviations are what patterns have for what is long.
var abbreviations = strings.NewReplacer("#", `[<~]?\d[\d.,]*(?:e[+-]?\d+)?(?: ?[a-zA-Zµμ/]+)?(?:\d[\dhmsµ.]*)?`, "  ", `\s+`,
	"¦", `\s*[│|]\s*`)

//go:embed tools.toml
var toolsText []byte

// A file is tools.toml.
type file struct {
	Texts []*tool
	JSON  []*printer
	Heads []*head
}

// tools has its patterns compiled. That takes milliseconds, which only who judges pays.
var tools = sync.OnceValue(func() file {
	of := strict.Embedded[file](toolsText)
	for i := len(of.Texts) - 1; i >= 0; i-- {
		t := of.Texts[i]
		if t.known(); t.Lines == nil {
			t.Lines = of.Texts[i+1].Lines
		}
		for _, line := range t.Lines {
			t.lines = append(t.lines, regexp.MustCompile(abbreviations.Replace(line)))
		}
	}
	for _, p := range of.JSON {
		p.known()
	}
	for _, h := range of.Heads {
		h.called = regexp.MustCompile("^(?:" + h.Called + ")$")
	}
	return of
})

// addsLatencies is why wrk's are not those of the requests alone.
func addsLatencies() string {
	wrk, _ := strict.Find(tools().Texts, func(t *tool) bool { return t.Name == "wrk" })
	return wrk.Row.Added
}

// unit is that of a group's figures where they have none.
func (t *tool) unit(name string) string {
	if name == "mean" || name == "stdev" || name == "min" || name == "max" || name == "at" {
		return t.Times
	}
	return ""
}

// known notes what is known of each run.
func (t *tool) known() {
	if t.Alone {
		t.Row.Set(law.Depth, law.Exactly(1))
	}
}

var percent = later(`^p?(\d+(?:[._]\d+)?)(?:th)?$`)

// read notes what a tool's JSON has.
func (p *printer) read(j *judge, top map[string]any) {
	for _, path := range slices.Sorted(maps.Keys(p.Paths)) {
		name, in, _ := strings.Cut(p.Paths[path], " ")
		j.group(name, in, lookup(top, path))
	}
	path, in, _ := strings.Cut(p.Quantiles, " ")
	switch all := at(top, path).(type) {
	case map[string]any:
		for name, v := range all {
			if m := percent().FindStringSubmatch(name); m != nil {
				j.group("p"+m[1], in, fmt.Sprint(v))
			}
		}
	case []any: // of fortio
		for _, q := range all {
			j.group("p"+lookup(q, "Percentile"), in, lookup(q, "Value"))
		}
	}
	codes, _ := at(top, p.Codes).(map[string]any)
	for code, n := range codes {
		if name := map[byte]string{'2': "good", '3': "good", '4': "bad", '5': "bad"}[(code + " ")[0]]; name != "" {
			j.group(name, "", fmt.Sprint(n))
		}
	}
}
