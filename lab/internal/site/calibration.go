package site

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A pair is a comparison whose truth is known: a server met itself, or a copy that burns a share more CPU time a
// request. It has the cells of a line, and those that are numbers, by their heads.
type pair struct {
	text map[string]string
	is   map[string]float64
}

// pairFigures are the numbers that a pair has, and calls the verdicts in words.
var (
	pairFigures = strings.Fields("margin budget_s cost_s share duration_s known known_low known_high counted " +
		"counted_low counted_high")
	calls = map[compare.Verdict]string{compare.Dearer: "costs more", compare.Same: "the same",
		compare.Cheaper: "costs less", compare.Undecided: "not decided", compare.Invalid: "no verdict"}
)

// calibrations has a table for each machine and way of asking, with a row for each planted share. It reads
// data/calibration/pairs.csv, which tools/calibrate.py writes, and names the line of what it cannot read.
func calibrations(file []byte) (all []*Table, err error) {
	lines, err := csv.NewReader(bytes.NewReader(file)).ReadAll()
	if err != nil || len(lines) == 0 {
		return nil, cmp.Or(err, fmt.Errorf("it has no head"))
	}
	asked := map[string][]pair{}
	for n, line := range lines[1:] {
		p := pair{map[string]string{}, map[string]float64{}}
		for i, name := range lines[0] {
			v, err := strconv.ParseFloat(line[i], 64)
			if p.text[name], p.is[name] = line[i], v; err != nil && slices.Contains(pairFigures, name) {
				return nil, fmt.Errorf("line %d: %s is %q and no number", n+2, name, line[i])
			}
		}
		if calls[p.verdict()] == "" {
			return nil, fmt.Errorf("line %d: verdict is %q", n+2, p.text["verdict"])
		}
		title := fmt.Sprintf("%s, within %s, a budget of %s", p.text["machine"], words.Percent(p.is["margin"]),
			seconds(p.is["budget_s"]))
		if p.text["beside"] != "" {
			title += fmt.Sprintf(", beside %s of a core", words.Number(p.is["beside"]))
		}
		if asked[title] == nil {
			all = append(all, &Table{Class: "figures cards", Title: title, Heads: heads("Planted", "Pairs", "Verdicts",
				"False", "Median time", "Longest")})
		}
		asked[title] = append(asked[title], p)
	}
	for _, t := range all {
		pairs := asked[t.Title]
		t.Caption = fmt.Sprintf("%d of %s were false. With nothing planted a request cost %s", strict.Count(pairs, pair.wrong),
			words.Count(strict.Count(pairs, pair.decided), "verdict"), words.Time(pairs[0].is["cost_s"]))
		for _, share := range slices.Sorted(maps.Keys(strict.Collect(pairs, func(p pair) float64 { return p.is["share"] }))) {
			t.Rows = append(t.Rows, planted(strict.Filter(pairs, func(p pair) bool { return p.is["share"] == share })))
		}
	}
	return all, nil
}

// planted is the row of the pairs of one share.
func planted(pairs []pair) Row {
	said, took := map[string]int{}, []float64(nil)
	for _, p := range pairs {
		if said[calls[p.verdict()]]++; p.decided() {
			took = append(took, p.is["duration_s"])
		}
	}
	known := fmt.Sprintf("%s by its steps, %s as counted", pairs[0].span("known"), pairs[0].span("counted"))
	row := Row{Cells: []Cell{{Head: true, Text: words.Percent(pairs[0].is["share"]) + " planted", Below: known},
		{Text: strconv.Itoa(len(pairs))}, {Text: words.Tally(said, true)},
		{Text: strconv.Itoa(strict.Count(pairs, pair.wrong))}, {}, {}}}
	if len(took) > 0 {
		row.Cells[4].Text, row.Cells[5].Text = seconds(stats.Median(took)), seconds(slices.Max(took))
	}
	return row
}

func (p pair) verdict() compare.Verdict { return compare.Verdict(p.text["verdict"]) }

func (p pair) decided() bool {
	return p.verdict() != compare.Undecided && p.verdict() != compare.Invalid
}

// wrong tells whether a verdict is false, by the least that the plant may be.
func (p pair) wrong() bool {
	v := p.verdict()
	return v == compare.Cheaper || v == compare.Dearer && p.is["share"] == 0 ||
		v == compare.Same && p.is["known_low"] > p.is["margin"]
}

// span is a share with its interval, to a hundredth of a percent.
func (p pair) span(name string) string {
	return strings.ReplaceAll(fmt.Sprintf("%.2f\u00a0%% (%.2f to %.2f)", 100*p.is[name], 100*p.is[name+"_low"],
		100*p.is[name+"_high"]), "-", "−")
}

func seconds(s float64) string { return words.Duration(time.Duration(s * float64(time.Second))) }
