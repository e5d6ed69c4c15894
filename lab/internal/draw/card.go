package draw

import (
	"math"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/strict"
)

// Card is a chart for the picture that links to a page show. Its marks are letters, since the font
// of code has block and line characters, which make bars and intervals out of plain text. Line by
// line, Words are what stands on the left and Texts what stands on the right; Ink are the marks and
// Wall the bars behind them, both from the card's left edge.
type Card struct {
	Words string `json:"words"`
	Texts string `json:"texts"`
	Ink   string `json:"ink"`
	Wall  string `json:"wall"`
	// Says has the same figures for readers who cannot see it.
	Says string `json:"says"`
}

const (
	cardWidth = 58 // letters of a row
	cardRows  = 6
)

// A cardRow is what a row is about, its figure, its mark, and the bar behind it.
type cardRow struct{ label, text, mark, bar string }

// card lays out rows, whose marks are drawn for the width that labels and texts leave.
func card(caption, source string, rows []cardRow, draw func(i, width int) (mark, bar string)) Card {
	labels, texts := 0, 0
	for _, r := range rows {
		labels, texts = max(labels, letters(r.label)), max(texts, letters(r.text))
	}
	width, margin := max(4, cardWidth-labels-texts), strings.Repeat(" ", labels+1)
	lines := []cardRow{{label: Short(caption, 72)}}
	var says []string
	for i, r := range rows {
		mark, bar := draw(i, width)
		lines = append(lines, cardRow{r.label, r.text, margin + mark, margin + bar})
		if len(rows) <= 3 {
			lines = append(lines, cardRow{})
		}
		says = append(says, r.label+": "+r.text)
	}
	lines = append(lines, cardRow{label: Short(source, 72)})
	column := func(of func(cardRow) string) string {
		all := strict.Called(lines, func(l cardRow) string { return strings.TrimRight(of(l), " ") })
		return strings.TrimRight(strings.Join(all, "\n"), "\n")
	}
	return Card{
		Words: column(func(r cardRow) string { return r.label }), Texts: column(func(r cardRow) string { return r.text }),
		Ink: column(func(r cardRow) string { return r.mark }), Wall: column(func(r cardRow) string { return r.bar }),
		Says: lines[0].label + ". " + strings.Join(says, ", ") + ".",
	}
}

// line draws letters from one column to another, with its ends.
func line(from, to int, first, last string) string {
	return strings.Repeat(" ", from) + first + strings.Repeat("─", max(0, to-from-1)) + last
}

// CardOfBars has bars from zero, with intervals; of more than fit, the ends and some spread between.
func CardOfBars(caption, source string, bars []Bar) Card {
	if n := len(bars); n > cardRows {
		var some []Bar
		for i := range cardRows {
			some = append(some, bars[int(math.Round(float64(i*(n-1))/(cardRows-1)))])
		}
		bars = some
	}
	most := 1e-300
	var rows []cardRow
	for _, b := range bars {
		most, rows = max(most, b.Most()), append(rows, cardRow{label: b.Label, text: b.Text})
	}
	return card(caption, source, rows, func(i, width int) (mark, bar string) {
		b := bars[i]
		halves := int(math.Round(float64(2*width) * (b.Value() / most)))
		if b.Low != nil && b.High != nil {
			from, to := int(float64(width-1)**b.Low/most), int(float64(width-1)**b.High/most)
			if to-from > 1 { // an interval of one letter would look like a smudge
				mark = line(from, to, "├", "┤")
			}
		}
		return mark, strings.Repeat("█", halves/2) + strings.Repeat("▌", halves%2)
	})
}

// CardOfRatios has ratios on a log axis, over the band that a claim wants: a dot for each, with
// its interval if there is one, and no dot if only a range is known.
func CardOfRatios(caption, source string, r Ratios) Card {
	all := r.Groups[0].Rows
	all = all[:min(len(all), cardRows)]
	r.Groups = []Group[Ratio]{{Rows: all}}
	lo, hi := r.ends()
	rows := strict.Called(all, func(r Ratio) cardRow { return cardRow{label: r.Label, text: r.Text} })
	// A tenth of the axis stays free at either end, so that an edge of the band is visible.
	pad := math.Pow(hi/lo, 0.1)
	return card(caption, source, rows, func(i, width int) (mark, bar string) {
		a := span(lo/pad, hi*pad, 0, float64(width-1), true)
		at := func(v *float64, open int) int {
			if v == nil || *v <= 0 {
				return open
			}
			return int(math.Round(a.px(*v)))
		}
		from, to := at(&r.BandLow, 0), at(&r.BandHigh, width-1)
		bar = strings.Repeat(" ", from) + strings.Repeat("█", 1+to-from)
		row := all[i]
		if !row.Known() {
			return "", bar
		}
		first, last := "├", "┤"
		if row.V == 0 && row.Low == nil {
			first = "─"
		}
		if row.V == 0 && row.High == nil {
			last = "─"
		}
		from, to = at(row.Low, 0), at(row.High, width-1)
		x := at(&row.V, from)
		runes := []rune(line(min(from, x), max(to, x), first, last))
		if row.V > 0 {
			if to <= x {
				runes = runes[:x+1]
			}
			runes = slices.Replace(runes, x, x+1, '●')
		}
		return string(runes), bar
	})
}
