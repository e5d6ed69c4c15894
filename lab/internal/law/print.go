package law

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/line-rate/line-rate/lab/internal/metric"
)

// A Unit is how many of a base unit one of what is printed is; laws.toml has all.
type Unit struct {
	Of       metric.Unit
	Scale    float64
	Prefixes bool
	Names    string

	power float64 // of a thousand, by its prefix
}

var units = sync.OnceValue(func() map[string]Unit {
	all := map[string]Unit{}
	for _, u := range file.Units {
		for name := range strings.SplitSeq(u.Names, " ") {
			all[name] = u
			for i, prefix := range []string{"k", "m", "g", "t"} {
				kilo, kibi := u, u
				kilo.power = float64(i + 1)
				kilo.Scale *= math.Pow(1000, kilo.power)
				kibi.Scale *= math.Pow(1024, kilo.power)
				if u.Prefixes {
					all[prefix+name], all[prefix+"i"+name] = kilo, kibi
				}
			}
		}
	}
	return all
})

// UnitOf finds a unit by its name as it is printed. A prefix alone, as in 12k, is one of counts.
func UnitOf(name string) (u Unit, known bool) {
	if u, known = units()[name]; !known {
		u, known = units()[strings.ToLower(strings.ReplaceAll(name, " ", ""))]
	}
	return u, known
}

// Size is the scale of a unit where a kilo may be 1,024.
func (u Unit) Size(binary bool) Quantity {
	if binary && u.power > 0 {
		return Exactly(u.Scale * math.Pow(1.024, u.power))
	}
	return Exactly(u.Scale)
}

// A Manner says how figures are written.
type Manner struct {
	Comma  bool // decimals come after a comma
	Digits bool // zeros at the end of a whole number are digits
}

// A Printed is a figure as it stands in print, in the unit that is printed with it.
type Printed struct {
	Quantity
	Name  string // of the unit; empty if there is none
	Unit  Unit
	Whole bool // it has no decimals
}

// boundless is more than any figure, and no product of a few such is infinite.
const boundless = 1e60

// Read reads a figure as it is printed, and gives the range of values that it may stand for:
//
//   - half a unit of the last digit on either side. Zeros at the end of a whole number may be digits or
//     rounding, and are taken as rounding (21,400 stands for 21,350 to 21,450); those of a percentage are
//     taken as digits;
//   - "~" doubles the range, to a whole unit;
//   - "<1ms" stands for zero to one millisecond, ">1ms" for all from it on;
//   - "12 to 15 ms" stands for what lies between them, and so does "12 ± 3 ms".
//
// Of a time in several units, as 1m30s or 00:01:30, the last was rounded. ok is false if the text is no figure.
func Read(text string, m Manner) (p Printed, ok bool) {
	text = strings.TrimSpace(text)
	about, size := utf8.DecodeRuneInString(text)
	if strings.ContainsRune("<~≈≤>≥", about) {
		text = strings.TrimLeft(text[size:], " ")
	} else {
		about = 0
	}
	negative := strings.HasPrefix(text, "-") || strings.HasPrefix(text, "−")
	if negative || strings.HasPrefix(text, "+") {
		text = strings.TrimLeft(text, "+-−")
	}
	number, rest := cut(text, m.Comma)
	v, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return p, false
	}
	mantissa, exponent, _ := strings.Cut(number, "e")
	whole, decimals, _ := strings.Cut(mantissa, ".")
	e, _ := strconv.Atoi(exponent)
	p.Name, p.Whole = strings.TrimSpace(rest), len(decimals) == e
	last := math.Pow10(e - len(decimals))
	if p.Whole && v != 0 && !m.Digits && p.Name != "%" {
		last = math.Pow10(len(whole) - len(strings.TrimRight(whole, "0")))
	}
	p.Quantity = Around(v, last/2)
	if p.Unit, ok = UnitOf(p.Name); !ok {
		p, ok = several(p, m)
	}
	switch v := p.Value; about {
	case 0:
	case '~', '≈':
		p.Quantity = Quantity{v, v - 2*(v-p.Low), v + 2*(p.High-v)}
	case '<', '≤':
		p.Quantity = Quantity{v, 0, v}
	default:
		p.Quantity = Quantity{v, v, boundless}
	}
	if negative {
		p.Quantity = Quantity{}.Minus(p.Quantity)
	}
	return p, ok && p.Finite()
}

// several reads what has more numbers than the first: a range, a figure and its spread, a time in several units.
func several(p Printed, m Manner) (Printed, bool) {
	const longest = 40 // of what a person would write so
	if len(p.Name) > longest {
		return p, false
	}
	for _, between := range []string{"±", "+/-", "–", "—", "-", "to "} {
		name, rest, found := strings.Cut(p.Name, between)
		other, ok := Read(rest, m)
		if name = strings.TrimSpace(name); !found || !ok || name != "" && name != other.Name {
			continue
		}
		q := Quantity{(p.Value + other.Value) / 2, p.Low, other.High}
		if between == "±" || between == "+/-" {
			q = Quantity{p.Value, p.Low - other.High, p.High + other.High}
		}
		return Printed{q, other.Name, other.Unit, p.Whole && other.Whole}, q.Low <= q.Value && q.Value <= q.High
	}
	end := strings.IndexAny(p.Name+" ", "0123456789: ")
	unit, _ := UnitOf(p.Name[:end])
	clock := strings.HasPrefix(p.Name, ":")
	switch {
	case clock:
		unit = Unit{Of: metric.Second, Scale: math.Pow(60, float64(strings.Count(p.Name, ":")))}
	case p.Name[:end] == "m":
		unit, _ = UnitOf("min")
	}
	if unit.Of != metric.Second {
		return p, false
	}
	other, ok := Read(strings.TrimLeft(p.Name[end:], ": "), Manner{m.Comma, true})
	second, _ := UnitOf("s")
	q := Exactly(p.Value * unit.Scale).Plus(other.Times(Exactly(other.Unit.Scale)))
	return Printed{q, "s", second, other.Whole}, ok && (other.Unit.Of == metric.Second || clock && other.Name == "")
}

// written is how a number is written: one kind of mark between thousands or lakhs, what begins decimals once, an exponent.
const written = `(?s)^(\d{1,3}(?:(?:\%[1]s\d{2,3})*\%[1]s\d{3}|(?:['’_ \x{a0}\x{2009}\x{202f}]\d{3})+|(?:\%[2]s\d{3}){2,})|\d*)` +
	`(?:[.%[2]s](\d+))?(?:[eE]([+-]?\d+))?(\D.*)?$`

var byPoint, byComma = later(",", "."), later(".", ",")

func later(thousands, decimals string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(fmt.Sprintf(written, thousands, decimals)) })
}

// cut parts a text behind the number that it begins with, which is given as 1234.5e-6. comma says that its decimals come
// after one.
func cut(text string, comma bool) (number, rest string) {
	end := digits(text)
	if end < len(text) && text[end] == '.' && digits(text[end+1:]) > 0 {
		end += 1 + digits(text[end+1:])
	}
	rest = text[end:]
	if !comma && (rest == "" || rest[0] < utf8.RuneSelf && rest[0]|0x20 != 'e' && (len(rest) == 1 || !isDigit(rest[1]))) {
		return text[:end], rest // most are so, and patterns are slow
	}
	pattern := byPoint
	if comma {
		pattern = byComma
	}
	m := pattern().FindStringSubmatch(text)
	if m == nil {
		return "", text
	}
	for _, r := range m[1] {
		if r >= '0' && r <= '9' {
			number += string(r)
		}
	}
	if m[2] != "" {
		number += "." + m[2]
	}
	if m[3] != "" {
		number += "e" + m[3]
	}
	return number, m[4]
}

// digits is how many of them a text begins with.
func digits(text string) (n int) {
	for n < len(text) && isDigit(text[n]) {
		n++
	}
	return n
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
