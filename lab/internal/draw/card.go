package draw

import (
	"math"
	"strings"
)

// Card is a chart out of letters, for the picture that links to a page show: the site's font has
// block and line characters, which make bars and intervals out of plain text. Ink is what is
// written, and Wall what stands behind it.
type Card struct {
	Ink  string `json:"ink"`
	Wall string `json:"wall"`
	// Says has the same figures for readers who cannot see it.
	Says string `json:"says"`
}

const (
	cardWidth = 58 // letters of a row
	cardRows  = 6
)

// A cardRow is a row of letters: what it is about, its mark, and the bar behind it.
type cardRow struct{ label, text, bar, mark string }

// room is the width that is left for marks, beside labels and texts.
func room(labels, texts int) int { return max(4, cardWidth-labels-texts) }

// CardOfBars has bars from zero, with intervals; of more than fit, the ends and some spread between.
func CardOfBars(caption, source string, bars []Bar) Card {
	if n := len(bars); n > cardRows {
		var some []Bar
		for i := range cardRows {
			some = append(some, bars[int(math.Round(float64(i*(n-1))/(cardRows-1)))])
		}
		bars = some
	}
	most, labels, texts := 1e-300, 0, 0
	for _, b := range bars {
		most, labels, texts = max(most, b.Most()), max(labels, letters(b.Label)), max(texts, letters(b.Text))
	}
	width := room(labels, texts)
	var rows []cardRow
	for _, b := range bars {
		halves := int(math.Round(float64(2*width) * (b.Value() / most)))
		row := cardRow{label: b.Label, text: b.Text, bar: strings.Repeat("█", halves/2) + strings.Repeat("▌", halves%2)}
		if b.Low != nil && b.High != nil {
			from, to := int(float64(width-1)**b.Low/most), int(float64(width-1)**b.High/most)
			if to-from > 1 { // an interval of one letter would look like a smudge
				row.mark = strings.Repeat(" ", from) + "├" + strings.Repeat("─", to-from-1) + "┤"
			}
		}
		rows = append(rows, row)
	}
	return card(caption, source, rows, labels, width)
}

// CardOfRatios has ratios on a log axis, over the band that a claim wants: a dot for each, with
// its interval if there is one, and no dot if only a range is known.
func CardOfRatios(caption, source string, r Ratios) Card {
	all := r.Groups[0].Rows
	all = all[:min(len(all), cardRows)]
	r.Groups = []RatioGroup{{Rows: all}}
	lo, hi := r.ends()
	labels, texts := 0, 0
	for _, row := range all {
		labels, texts = max(labels, letters(row.Label)), max(texts, letters(row.Text))
	}
	width := room(labels, texts)
	// A tenth of the axis stays free at either end, so that an edge of the band is visible.
	pad := math.Pow(hi/lo, 0.1)
	a := span(lo/pad, hi*pad, 0, float64(width-1), true)
	at := func(v float64) int { return int(math.Round(a.px(v))) }
	from, to := 0, width-1
	if r.BandLow > 0 {
		from = at(r.BandLow)
	}
	if r.BandHigh > 0 {
		to = at(r.BandHigh)
	}
	bar := strings.Repeat(" ", from) + strings.Repeat("█", 1+to-from)
	var rows []cardRow
	for _, row := range all {
		mark := ""
		if row.Known() {
			a, b := 0, width-1
			first, last := "─", "─"
			if row.Low != nil {
				a, first = at(*row.Low), "├"
			}
			if row.High != nil {
				b, last = at(*row.High), "┤"
			}
			if row.V > 0 {
				x := at(row.V)
				mark = strings.Repeat(" ", min(a, x))
				if x > a {
					mark += "├" + strings.Repeat("─", x-a-1)
				}
				mark += "●"
				if b > x {
					mark += strings.Repeat("─", b-x-1) + "┤"
				}
			} else {
				mark = strings.Repeat(" ", a) + first + strings.Repeat("─", max(0, b-a-1)) + last
			}
		}
		rows = append(rows, cardRow{row.Label, row.Text, bar, mark})
	}
	return card(caption, source, rows, labels, width)
}

func card(caption, source string, rows []cardRow, labels, width int) Card {
	caption = Short(caption, 60)
	ink, wall, says := []string{caption}, []string{""}, []string{}
	for _, r := range rows {
		fill := strings.Repeat(" ", labels-letters(r.label))
		ink = append(ink, fill+r.label+" "+r.mark+strings.Repeat(" ", max(0, width-letters(r.mark)))+" "+r.text)
		wall = append(wall, strings.Repeat(" ", labels+1)+r.bar)
		says = append(says, r.label+": "+r.text)
		if len(rows) <= 3 {
			ink, wall = append(ink, ""), append(wall, "")
		}
	}
	ink = append(ink, Short(source, 60))
	return Card{strings.Join(ink, "\n"), strings.Join(wall, "\n"), caption + ". " + strings.Join(says, ", ") + "."}
}
