package audit

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// A printedFigure is a table's figure: as printed, with its unit, and as a value in the
// metric's base unit.
type printedFigure struct {
	text  string
	value float64
	below bool // the value is a limit: "<1ms"
}

// absent are cells in which a table prints no figure.
var absent = []string{"", "-", "–", "—", "n/a", "N/A"}

var (
	decimalComma = regexp.MustCompile(`^[<~]?[+−-]?[0-9]+,[0-9]+ ?[a-zA-Zµ%/]*$`)
	manyPoints   = regexp.MustCompile(`^[<~]?[0-9]{1,3}(\.[0-9]{3}){2,}`)
	spaced       = regexp.MustCompile(`^[<~]?[0-9]{1,3}( [0-9]{3})+`)
	exponential  = regexp.MustCompile(`(?i)^[+-]?[0-9.]+e[+-]?[0-9]+$`)
	noNumber     = regexp.MustCompile(`(?i)^[+-]?(nan|inf|infinity)$`)
	// threeAfterPoint may be thousands in a country that separates them by points.
	threeAfterPoint = regexp.MustCompile(`^[<~]?[1-9][0-9]{0,2}\.[0-9]{3}$`)
	oneComma        = regexp.MustCompile(`^[<~]?[0-9]{1,3},[0-9]{3}(\D|$)`)
)

// most is more than any figure of a table can be, in its base unit.
const most = 1e15

// figure reads a cell. It refuses what could mean two things.
func (in *Import) figure(c column, cell string) (f printedFigure, err error) {
	text := cell
	switch {
	case noNumber.MatchString(cell):
		return f, fmt.Errorf("%q is no figure; leave the cell empty where the text prints none", cell)
	case exponential.MatchString(cell):
		return f, fmt.Errorf("%q: write the figure in digits, as the text prints it", cell)
	case spaced.MatchString(cell):
		return f, fmt.Errorf("%q: write thousands with commas, as \"794,310\"", cell)
	case manyPoints.MatchString(cell):
		return f, fmt.Errorf("%q: a point is a decimal point; write thousands with commas, as \"794,310\"", cell)
	case decimalComma.MatchString(cell) && !shape.MatchString(cell):
		return f, fmt.Errorf("%q: a comma separates thousands, as in \"794,310\"; write a decimal point", cell)
	case in.semicolons && oneComma.MatchString(cell):
		return f, fmt.Errorf("%q: in a file with semicolons a comma may be a decimal one; write 1125 or 1.125, whichever it is", cell)
	}
	s := shape.FindStringSubmatch(cell)
	if s == nil {
		_, err := parse(cell, manner{})
		return f, err
	}
	switch bare := s[5] == "" && s[6] == ""; {
	case !bare && c.unit != nil && strings.TrimSpace(c.unit.suffix) != s[5]+s[6] && c.unit.suffix != "":
		return f, fmt.Errorf("%q, but the column is in %s; leave one of the two units out", cell, strings.TrimSpace(c.unit.suffix))
	case bare && c.unit != nil:
		text += c.unit.suffix
	case bare && c.metric.Unit != metric.Count && c.metric.Unit != metric.PerSecond:
		return f, fmt.Errorf("%q has no unit: give it in the head, as %q, or by --unit %q", cell, c.head+" ("+example[c.metric.Unit]+")", c.head+"="+example[c.metric.Unit])
	case bare && threeAfterPoint.MatchString(cell) && !in.Points:
		return f, fmt.Errorf("%q may be %s or %s; write the first, or say --decimal-point", cell, strings.Replace(cell, ".", ",", 1), cell)
	}
	r, err := parse(text, manner{exact: counted[c.metric.Name] && s[1] == ""})
	switch {
	case err != nil:
		return f, err
	case !r.fits(c.metric):
		return f, fmt.Errorf("%q is a figure in %s, but %s is given in %s", cell, r.Unit, c.metric.Name, givenIn[c.metric.Unit])
	case r.Value > most:
		return f, fmt.Errorf("%q is more than any figure of a run", cell)
	}
	// A share of 31 % is 0.31, where 31 times 0.01 may differ in the last place.
	v, err := strconv.ParseFloat(strconv.FormatFloat(r.Value, 'g', 15, 64), 64)
	return printedFigure{text, v, s[1] == "<"}, err
}

var example = map[metric.Unit]string{metric.Second: "ms", metric.BytesPerSecond: "MB/s", metric.Bytes: "MB", metric.BitsPerSecond: "Gbps", metric.Ratio: "%"}

// states are the levels of what is on or off, as tables print them.
var states = map[string]bool{"true": true, "on": true, "yes": true, "false": false, "off": false, "no": false}

// Level reads the level of a setting as a table prints it.
func Level(name, cell string) (setting.Level, error) {
	if slices.Contains(absent, cell) {
		return setting.Level{}, fmt.Errorf("no level of %s; each row needs one", name)
	}
	whole := strings.ReplaceAll(cell, ",", "")
	if n, err := strconv.ParseInt(whole, 10, 64); err == nil && (whole == cell || shape.MatchString(cell)) && setting.Check(name, setting.Int(n)) == nil {
		return setting.Int(n), nil
	}
	if on, ok := states[strings.ToLower(cell)]; ok && setting.Check(name, setting.Bool(on)) == nil {
		return setting.Bool(on), nil
	}
	l := setting.String(cell)
	return l, setting.Check(name, l)
}
