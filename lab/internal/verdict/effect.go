package verdict

import (
	"fmt"
	"math"

	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// print fills in the ratio as pages print it.
func (e *Effect) print() {
	e.Words = words.Words{Text: e.Text(), Interval: e.Interval()}
	if e.Ratio == 0 {
		return
	}
	change, at := e.change()
	e.Percent, e.Change = words.Grouped(100*e.Ratio, at), words.Grouped(change, at)
	if change > 0 {
		e.Change = "+" + e.Change
	}
}

// change is the ratio as a change in percent, and the place of its last digit.
func (e Effect) change() (percent float64, at int) {
	if percent = 100 * (e.Ratio - 1); math.Abs(percent) < 10 {
		at = -1
	}
	return percent, at
}

// ends are those of the interval as changes in percent; empty where one is open.
func (e Effect) ends() string {
	if e.Low == 0 || e.High == 0 {
		return ""
	}
	_, at := e.change()
	return words.Grouped(100*(e.Low-1), at) + " to " + words.Grouped(100*(e.High-1), at)
}

// Text is the comparison's ratio as pages print it; of figures recorded in
// coarse steps it is a range.
func (e Effect) Text() string {
	switch {
	case e.Ratio > 0:
		return printRatio(e.Ratio, words.Known(e.Low), words.Known(e.High))
	case e.Pairs > 0:
		return words.Range(e.RatioLow, words.Known(e.RatioHigh))
	}
	return "no complete block"
}

// Interval is the ratio's confidence sequence as pages print it; empty if there
// is none.
func (e Effect) Interval() string {
	switch {
	case !e.HasInterval():
		return ""
	case e.Ratio > 0 && e.Low > 0 && e.High > 0:
		n := ratioDigits(e.Ratio, &e.Low, &e.High)
		return fmt.Sprintf("%.*f to %.*f", n, e.Low, n, e.High)
	}
	return words.Range(e.Low, words.Known(e.High))
}

// HasInterval reports whether the ratio has a confidence sequence, open at one end or not.
func (e Effect) HasInterval() bool { return e.Low > 0 || e.High > 0 }

// Deciding is the comparison whose counts are the claim's.
func Deciding(c Claim) (Effect, bool) {
	return strict.Find(c.Effects, func(e Effect) bool { return e.Decides })
}
