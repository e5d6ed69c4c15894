package judge

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

var (
	inTOML   = later(`(?m)^\s*\[\[[\w."-]+\]\]\s*$`)
	rule     = later(`^\s*\|?(\s*:?-+:?\s*\|)+\s*(:?-+:?)?\s*$`)
	emphasis = later("\\*\\*|__|`|</?[a-z]+>|\\[([^\\]]*)\\]\\([^)]*\\)")
)

// tells is how much of a text, in bytes, tells its form.
const tells = 64 << 10

// read finds what form a text has, and gives its rows to the judge.
func (j *judge) read(text []byte) error {
	start := bytes.TrimLeft(text, "\ufeff \t\r\n")
	begin := text[:min(len(text), tells)]
	if t := toolOf(begin); t != nil {
		j.Form = "output of " + t.Name
		return j.printed(t, text)
	}
	switch {
	case len(start) == 0:
		return errors.New("it is empty")
	case inTOML().Match(begin):
		j.Form = "TOML"
		var v any
		if err := toml.Unmarshal(text, &v); err != nil {
			return err
		}
		return j.walk(v, map[string]string{}, "")
	case start[0] == '{' || start[0] == '[':
		j.Form = "JSON"
		d := json.NewDecoder(bytes.NewReader(start))
		d.UseNumber() // its digits say how exact it is
		for {
			var v any
			switch err := d.Decode(&v); {
			case errors.Is(err, io.EOF):
				return nil
			case err != nil:
				return fmt.Errorf("at byte %d: %w", d.InputOffset(), err)
			}
			if err := j.object(v); err != nil {
				return err
			}
		}
	}
	if slices.ContainsFunc(strings.Split(string(begin), "\n"), rule().MatchString) {
		j.Form = "Markdown"
		return j.markdown(string(text))
	}
	return j.separated(start)
}

// separated reads CSV, or tables whose cells are separated by tabs or semicolons.
func (j *judge) separated(text []byte) error {
	head, _, _ := bytes.Cut(text, []byte("\n"))
	r := csv.NewReader(bytes.NewReader(text))
	j.Form = "CSV"
	for _, by := range "\t;" {
		n := bytes.Count(head, []byte(string(by)))
		if n > 0 && by == '\t' || n > bytes.Count(head, []byte(",")) { // a head may have a comma in it, but no tab
			r.Comma = by
			break
		}
	}
	r.FieldsPerRecord, r.ReuseRecord, r.LazyQuotes = -1, true, true
	var columns []column
	var rows [][]string // of a table whose head says nothing
	for {
		cells, err := r.Read()
		at, _ := r.FieldPos(0)
		switch {
		case errors.Is(err, io.EOF) && rows != nil:
			return j.turned(1, rows)
		case errors.Is(err, io.EOF):
			j.columns(columns)
			return nil
		case err != nil:
			j.broken(at, err.Error())
		case columns != nil:
			j.cells(at, columns, cells)
		case rows == nil:
			columns, rows = headed(slices.Clone(cells))
		case len(rows) > mostTurned:
			return known(columnsOf(rows[0]))
		default:
			rows = append(rows, slices.Clone(cells))
		}
	}
}

// headed gives a table's columns or, if its head names no figure, the first of its rows for turned.
func headed(head []string) (columns []column, rows [][]string) {
	if columns = columnsOf(head); known(columns) == nil {
		return columns, nil
	}
	return nil, [][]string{head}
}

// mostTurned is how many rows a table may have that is read from the top down.
const mostTurned = 100

// turned judges a table that has a figure on each row, and a run in each column; an error if neither its head nor
// its first column names a figure.
func (j *judge) turned(line int, rows [][]string) error {
	heads := []string{"name"}
	for _, cells := range rows[1:] {
		heads = append(heads, cells[0])
	}
	columns := columnsOf(heads)
	if known(columns) != nil {
		return known(columnsOf(rows[0]))
	}
	for n := 1; n < len(rows[0]); n++ {
		j.begin()
		seen := slices.Clone(columns)
		for i, cells := range rows {
			if n < len(cells) {
				j.take(&seen[i], cells[n])
			}
		}
		if j.row.Figures() > 1 { // else it has units, or remarks
			j.end(line, "")
			columns = seen
		}
	}
	j.columns(columns)
	return nil
}

// known refuses a table of which nothing can be read.
func known(columns []column) error {
	var heads []string
	for _, c := range columns {
		if c.is > due {
			return nil
		}
		heads = append(heads, fmt.Sprintf("%.40q", c.head))
	}
	return fmt.Errorf("no column has a head that is known, among %.300s; name them as rate, connections, mean (ms), p99 (ms), requests, duration (s)",
		strings.Join(heads, ", "))
}

func (j *judge) markdown(text string) error {
	var columns []column
	var rows [][]string // of a table whose head says nothing
	var before string
	at, found := 0, errors.New("no table has a column whose head is known")
	finish := func() {
		if rows != nil && j.turned(at-len(rows)-1, rows) == nil {
			found = nil
		}
		j.columns(columns)
		columns, rows = nil, nil
	}
	for line := range strings.Lines(text) {
		at++
		line = strings.TrimSpace(line)
		switch {
		case strings.Contains(line, "|") && rule().MatchString(line) && strings.Contains(before, "|"):
			finish()
			if columns, rows = headed(bars(before)); columns != nil {
				found = nil
			}
		case !strings.Contains(line, "|"):
			finish()
		case columns != nil:
			j.cells(at, columns, bars(line))
		case rows != nil:
			rows = append(rows, bars(line))
		}
		before = line
	}
	at++
	finish()
	return found
}

func bars(line string) (cells []string) {
	line = strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|")
	for cell := range strings.SplitSeq(strings.ReplaceAll(line, `\|`, "\u00a6"), "|") {
		cells = append(cells, strings.TrimSpace(emphasis().ReplaceAllString(cell, "$1")))
	}
	return cells
}

// deepest is how far tables may lie within each other.
const deepest = 20

// walk finds the rows of nested tables: each that has no tables within it is one, and has the figures of those
// that it lies in as well.
func (j *judge) walk(v any, from map[string]string, path string) error {
	if strings.Count(path, "\x00") > deepest {
		return fmt.Errorf("tables lie more than %d deep", deepest)
	}
	switch v := v.(type) {
	case []any:
		if pivoted, ok := pivot(v); ok {
			v = pivoted
		}
		for i, of := range v {
			if _, ok := of.(map[string]any); ok {
				if err := j.walk(of, from, fmt.Sprintf("%s\x00%d", path, i+1)); err != nil {
					return err
				}
			}
		}
	case map[string]any:
		own, within := maps.Clone(from), map[string]any{}
		flat(v, "", own, within)
		if len(within) == 0 {
			j.keyed(own, path)
		}
		for _, key := range slices.Sorted(maps.Keys(within)) {
			if err := j.walk(within[key], own, path+"\x00"+key); err != nil {
				return err
			}
		}
	}
	return nil
}

// flat puts what a table has in one level, keys joined by dots, and tables of tables apart.
func flat(v map[string]any, prefix string, own map[string]string, within map[string]any) {
	for key, of := range v {
		name := prefix + key
		switch of := of.(type) {
		case map[string]any:
			nested := slices.ContainsFunc(slices.Collect(maps.Values(of)), func(v any) bool {
				_, is := v.([]any)
				_, table := v.(map[string]any)
				return is || table
			})
			if nested && len(of) > 0 {
				within[name] = of
			} else {
				flat(of, name+".", own, within)
			}
		case []any:
			if len(of) > 0 {
				if _, is := of[0].(map[string]any); is {
					within[name] = of
				}
			}
		case nil:
		case float64: // of TOML, which had a point, and so a digit after it
			if own[name] = strconv.FormatFloat(of, 'f', -1, 64); of == math.Trunc(of) {
				own[name] += ".0"
			}
		default:
			own[name] = fmt.Sprint(of)
		}
	}
}

// pivot makes rows of a long table, which has one line for each figure, with its name under "label".
func pivot(long []any) (rows []any, ok bool) {
	at := map[string]map[string]any{}
	for _, v := range long {
		of, is := v.(map[string]any)
		label, named := of["label"].(string)
		value, there := of["value"]
		if !is || !named || !there {
			return nil, false
		}
		rest := maps.Clone(of)
		delete(rest, "label")
		delete(rest, "value")
		key := fmt.Sprint(rest) // its keys are printed in order
		if at[key] == nil {
			at[key], rows = rest, append(rows, rest)
		}
		at[key][label] = value
	}
	return rows, len(rows) > 0
}

// object reads a value of JSON: what a load generator printed, or rows.
func (j *judge) object(v any) error {
	top, _ := v.(map[string]any)
	for _, of := range tools().JSON {
		if lookup(top, of.Has) != "" {
			j.Form, j.tool = "JSON of "+of.Name, &of.tool
			j.begin()
			of.read(j, top)
			j.end(0, of.Name)
			return nil
		}
	}
	if top["rawData"] != nil && top["concurrencyLevels"] != nil {
		j.techEmpower(top)
		return nil
	}
	return j.walk(v, map[string]string{}, "")
}

// techEmpower reads a round of TechEmpower's, whose runs have their connections by their place in a list: wrk's
// levels, or the highest of them for each number of queries.
func (j *judge) techEmpower(top map[string]any) {
	j.Form, j.options.Added = "JSON of TechEmpower", addsLatencies()
	tests, _ := top["rawData"].(map[string]any)
	for _, test := range slices.Sorted(maps.Keys(tests)) {
		levels, _ := top["concurrencyLevels"].([]any)
		depth := "1"
		if test == "plaintext" {
			levels, _ = top["pipelineConcurrencyLevels"].([]any)
			depth = "16" // as its test type sets it
		}
		frameworks, _ := tests[test].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(frameworks)) {
			runs, _ := frameworks[name].([]any)
			for i, run := range runs {
				of, is := run.(map[string]any)
				if !is || len(levels) == 0 {
					continue
				}
				if slices.Contains([]string{"query", "update", "cached_query"}, test) {
					i = len(levels) - 1
				}
				own := map[string]string{"framework": name, "test": test, "pipelining": depth, "duration": lookup(top, "duration"),
					"connections": fmt.Sprint(levels[min(i, len(levels)-1)])}
				flat(of, "", own, map[string]any{})
				j.keyed(own, "")
			}
		}
	}
}

// at is what lies at a path of keys, joined by slashes; nil if nothing does. As k6 has it, a key may be the name of
// one in a list, and what has no such key may have it in its "values".
func at(v any, path string) any {
	for key := range strings.SplitSeq(path, "/") {
		list, _ := v.([]any)
		of, _ := v.(map[string]any)
		values, _ := of["values"].(map[string]any)
		v = cmp.Or(of[key], values[key])
		for _, one := range list {
			if of, _ := one.(map[string]any); of["name"] == key {
				v = one
			}
		}
	}
	return v
}

func lookup(v any, path string) string {
	if v = at(v, path); v == nil {
		return ""
	}
	return fmt.Sprint(v)
}
