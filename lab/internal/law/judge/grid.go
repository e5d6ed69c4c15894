package judge

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"html"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/line-rate/line-rate/lab/internal/law"
)

// A grid is a table as it stands in a text: the lines of its head, and its rows with their distance from the first line.
type grid struct {
	line  int // of the file
	heads []string
	rows  [][]string
	at    []int

	columns []column // of its plan, as what follows
	turned  bool
}

const (
	fence   = "```" // begins and ends code in Markdown
	mostTop = 20    // lines that may stand right above CSV
)

// read finds tables and what tools printed in a text, and judges them.
func (j *judge) read(raw []byte) error {
	text, err := decoded(raw)
	if err != nil {
		return err
	}
	lines := strings.Split(text, "\n")
	top := 0 // the first line of those together
	for at := 0; at < len(lines); {
		var g grid
		barred, n := tagged(lines[at:])
		if n == 0 {
			barred, n = underlined(lines[at:])
		}
		if n == 0 {
			barred, n = boxed(lines[at:])
		}
		if n > 0 {
			if g = cut(barred); strings.Contains(lines[at], "<table") {
				clear(g.at) // rows of HTML are no lines of the file
			}
		} else if at-top < mostTop {
			g, n = separated(lines[at:])
		}
		if g.heads != nil {
			j.output()
			g.line = at + 1
			j.table(&g)
			at += n
			top = at
			continue
		}
		for range max(n, 1) {
			at++
			if j.line(at, lines[at-1]); lines[at-1] == "" || strings.HasPrefix(lines[at-1], fence) {
				top = at
			}
		}
	}
	j.output()
	j.flush()
	if found := inJSON().FindStringSubmatch(text); found != nil && j.Rows == 0 {
		return fmt.Errorf("JSON is not read, nested or flat (it begins with %s): give a table, as CSV, or the text that the "+
			"tool prints", found[1])
	}
	return nil
}

var (
	inJSON  = later(`^\s*[\[{][\[{\s]*("[^"]*")\s*:`)
	colours = later(`\x1b\[[0-9;]*[A-Za-z]`)
	quoted  = later(`(?m)^(> ?)+`)
)

// decoded is a text in UTF-8 whose lines end in LF, without colours, marks of quotation, and what tells its encoding.
func decoded(raw []byte) (string, error) {
	for mark, order := range map[string]binary.ByteOrder{"\xff\xfe": binary.LittleEndian, "\xfe\xff": binary.BigEndian} {
		if bytes.HasPrefix(raw, []byte(mark)) {
			units := make([]uint16, len(raw)/2)
			_, _ = binary.Decode(raw, order, units) // all that it can lack is an odd last byte
			raw = []byte(string(utf16.Decode(units)))
		}
	}
	text := strings.TrimPrefix(string(raw), "\ufeff")
	if at := strings.IndexByte(text, 0); at >= 0 {
		return "", fmt.Errorf("it is no text: byte %d is zero", at)
	}
	if strings.Contains(text, "\x1b") {
		text = colours().ReplaceAllString(text, "")
	}
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	if strings.HasPrefix(text, ">") || strings.Contains(text, "\n>") {
		text = quoted().ReplaceAllString(text, "")
	}
	return text, nil
}

const (
	bars    = "|│┃║"
	strokes = "-=─━═"
	corners = "+┼╪╬╋┿├┤┌┐└┘┬┴╞╡╔╗╚╝╠╣╦╩┏┓┗┛┣┫┳┻┡┩╇╭╮╰╯"
)

var (
	toBar    = strings.NewReplacer(`\|`, "¦", "│", "|", "┃", "|", "║", "|")
	emphasis = later("\\*\\*|__|`|</?[a-z]+>|\\[([^\\]]*)\\]\\([^)]*\\)")
)

// ruled tells how many columns a line rules off; 0 if it is no rule.
func ruled(line string) int {
	if strings.Trim(line, strokes+corners+bars+": ") != "" {
		return 0
	}
	return len(strings.FieldsFunc(line, func(r rune) bool { return !strings.ContainsRune(strokes, r) }))
}

// cut makes a table of lines with bars between their cells: what stands above its rule is the head. autocannon's own
// boxes are left to be read as what a tool prints.
func cut(lines []string) (g grid) {
	columns := 0 // by the rule below the head
	for at, line := range lines {
		if n := ruled(line); n > 0 || !strings.ContainsAny(line, bars) {
			if g.heads != nil && columns == 0 {
				columns = n
			}
			continue
		}
		line = strings.TrimSuffix(strings.TrimPrefix(toBar.Replace(strings.TrimSpace(line)), "|"), "|")
		cells := strings.Split(line, "|")
		for i, cell := range cells {
			if strings.ContainsAny(cell, "*_`<[") {
				cell = emphasis().ReplaceAllString(cell, "$1")
			}
			cells[i] = strings.TrimSpace(cell)
		}
		switch {
		case columns > 0:
			g.rows, g.at = append(g.rows, cells), append(g.at, at)
		case len(g.heads) == len(cells):
			g.heads = under(g.heads, cells)
		default:
			g.heads = cells
		}
	}
	odd := g.rows == nil || columns > 1 && columns != len(g.heads)
	if odd || slices.Contains([]string{"Stat", "Code", "Percentile"}, g.heads[0]) {
		g.heads = nil
	}
	return g
}

// under joins two lines of a head. What stands above several columns may be written once.
func under(above, below []string) (heads []string) {
	over := ""
	for i, name := range below {
		if i < len(above) && above[i] != "" {
			over = above[i]
		}
		both := strings.TrimSpace(over + " " + name)
		for _, head := range []string{name, over} {
			if columnOf(both).figure == unused && columnOf(head).figure != unused {
				both = head
			}
		}
		heads = append(heads, both)
	}
	return heads
}

// boxed gives the lines of a table that has bars: of Markdown, in a box, in RST's grid, of psql.
func boxed(lines []string) (barred []string, n int) {
	for n < len(lines) && (strings.ContainsAny(lines[n], bars) || ruled(lines[n]) > 0 && strings.ContainsAny(lines[n], corners)) {
		n++
	}
	return lines[:n], n
}

var underline = later(`^ *[=-]{2,}( +[=-]{2,})+ *$`)

// underlined gives those of a table whose columns lie below strokes, as RST's simple ones.
func underlined(lines []string) (barred []string, n int) {
	under := func(n int) bool { return n < len(lines) && underline().MatchString(lines[n]) }
	if under(0) { // a rule above the head as well
		barred, n = []string{""}, 1
	}
	head := n
	for ; !under(head); head++ {
		if head > n+1 || head >= len(lines) || strings.TrimSpace(lines[head]) == "" {
			return nil, 0
		}
	}
	for ; n < len(lines) && strings.TrimSpace(lines[n]) != "" && (n <= head || !under(n)); n++ {
		line := ""
		for i, r := range []rune(lines[n]) {
			if i < len(lines[head]) && lines[head][i] != ' ' && (i == 0 || lines[head][i-1] == ' ') {
				line += "|"
			}
			line += string(r)
		}
		barred = append(barred, line)
	}
	if under(n) {
		n++
	}
	return barred, n
}

var (
	tags = strings.NewReplacer("<tr", "\n<tr", "<td", "|<td", "<th ", "|<th ", "<th>", "|<th>", "</thead", "\n|-|\n</thead")
	tag  = later(`<[^>]*>`)
)

// tagged gives those of a table of HTML: each of its rows becomes one. Without a thead the first row is the head.
func tagged(lines []string) (barred []string, n int) {
	if !strings.Contains(lines[0], "<table") {
		return nil, 0
	}
	n = 1 + slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, "</table") })
	if n == 0 {
		n = len(lines)
	}
	text := strings.Join(strings.Fields(strings.Join(lines[:n], " ")), " ")
	barred = strings.Split(html.UnescapeString(tag().ReplaceAllString(tags.Replace(text), "")), "\n")
	if !strings.Contains(text, "</thead") {
		barred = slices.Insert(barred, min(2, len(barred)), "|-|")
	}
	return barred, n
}

// separated reads CSV, or a table whose cells tabs or semicolons separate, up to an empty line. Prose has commas as well:
// with a space behind them they need two heads that are known, and as many in the next line. What a colon ends is no
// head, but a key of what a tool printed.
func separated(lines []string) (g grid, n int) {
	const longest = 4000
	n = slices.IndexFunc(lines, func(s string) bool { return s == "" || len(s) > longest || strings.HasPrefix(s, fence) })
	if n < 0 {
		n = len(lines)
	}
	for _, by := range "\t;," {
		if n < 2 || !strings.ContainsRune(lines[0], by) || strings.Contains(lines[0]+string(by), ":"+string(by)) {
			continue
		}
		read := func(lines []string) (g grid) {
			r := csv.NewReader(strings.NewReader(strings.Join(lines, "\n")))
			r.Comma, r.FieldsPerRecord, r.LazyQuotes = by, -1, true
			g.heads, _ = r.Read()
			for cells, err := r.Read(); err == nil; cells, err = r.Read() {
				at, _ := r.FieldPos(0)
				g.rows, g.at = append(g.rows, cells), append(g.at, at-1)
			}
			return g
		}
		top := read(lines[:min(n, 6)])
		if len(top.rows) > 0 && top.plan("") &&
			!(strings.Contains(lines[0], ", ") && (figures(top.columns) == 1 || len(top.rows[0]) != len(top.heads))) {
			return read(lines[:n]), n
		}
	}
	return grid{}, 0
}

// mostRead is how many rows of a table tell how it is to be read, and how many one may have that is not read row by row.
const mostRead = 200

var numbers = later(`(^|[|\s~<>≈])\d`)

// wordy tells whether a row has no number behind its first cell.
func wordy(cells []string) bool { return !numbers().MatchString(strings.Join(cells[1:], "|")) }

// plan tells how a table is to be read, and whether it names any figure: a row a run. A head may go on in the first row,
// which has no number then. A table with a figure on each row, and a run in each column, is turned. One whose cells are
// all the figure that its first head names, or what stands above it, gets a row for each cell.
func (g *grid) plan(title string) bool {
	g.columns = columnsOf(g.heads)
	if len(g.rows) > 1 && len(g.rows[0]) >= len(g.heads) && wordy(g.rows[0]) {
		both := under(g.heads, g.rows[0])
		if columns := columnsOf(both); figures(columns) >= figures(g.columns) {
			g.heads, g.columns, g.rows, g.at = both, columns, g.rows[1:], g.at[1:]
		}
	}
	if len(g.rows) > mostRead {
		return figures(g.columns) > 0
	}
	nth := func(n int) (cells []string) {
		for _, row := range append([][]string{g.heads}, g.rows...) {
			cells = append(cells, append(row[min(n, len(row)):len(row):len(row)], "")[0])
		}
		return cells
	}
	if turned := columnsOf(nth(0)); figures(turned) > figures(g.columns) {
		across := grid{line: g.line, heads: nth(0), columns: turned, at: make([]int, len(g.heads)), turned: true}
		for n := 1; n < len(g.heads); n++ {
			across.rows = append(across.rows, nth(n))
		}
		*g = across
	}
	for _, name := range []string{title, g.heads[0]} {
		if c := columnOf(name); c.known() && figures(g.columns[1:]) == 0 && !slices.ContainsFunc(g.rows, wordy) {
			crossed := grid{line: g.line, heads: []string{"", name}, columns: []column{{figure: names}, c}}
			for i, cells := range g.rows {
				for k := 1; k < min(len(cells), len(g.heads)); k++ {
					crossed.rows = append(crossed.rows, []string{cells[0] + ", " + g.heads[k], cells[k]})
					crossed.at = append(crossed.at, g.at[i])
				}
			}
			*g = crossed
			break
		}
	}
	return figures(g.columns) > 0
}

// table judges a table.
func (j *judge) table(g *grid) {
	if !g.plan(j.title) {
		if j.skipped++; j.skipped == 1 {
			j.first = fmt.Sprintf("that of line %d: %.200s", g.line, strings.Join(g.heads, ", "))
		}
		return
	}
	j.decimals(g.rows[:min(len(g.rows), mostRead)])
	single := figures(g.columns) == 1 && g.columns[0].figure == names && len(g.rows) <= 10*mostRead
	for i, cells := range g.rows {
		line := g.line + g.at[i]
		if len(cells) != len(g.columns) {
			j.unread(line, fmt.Sprintf("line %d", line), fmt.Sprintf("it has %d cells, and the head has %d", len(cells), len(g.columns)))
			continue
		}
		j.begin()
		for k := range g.columns {
			j.take(&j.row, &g.columns[k], cells[k])
		}
		switch {
		case single && j.wrong == "":
			at := slices.IndexFunc(g.columns, column.known)
			j.keep(line, g.columns[at].figure)
		case !g.turned:
			j.end(line, "")
		case j.row.Rated() || j.row.Timed(): // else it has units, or remarks
			j.end(line, g.heads[0]+" "+cells[0])
		}
	}
	j.columns(g.columns)
}

var (
	byComma = later(`^\D{0,3}\d{1,3}(\.\d{3})*,(\d{1,2}|\d{4,})\D*$|\d\.\d{3},\d`)
	byPoint = later(`^\D{0,3}(\d+\.(\d{1,2}|\d{4,})|0\.\d+)\D*$|\d,\d{3}\.\d`)
	either  = later(`^\D{0,3}\d{1,3}\.\d{3}\D*$`)
)

// decimals tells from a table's cells whether decimals come after a comma, and why that is not sure.
func (j *judge) decimals(rows [][]string) {
	j.comma, j.unsure, j.sum, j.summed = false, "", law.Quantity{}, 0
	points := false
	for _, cell := range slices.Concat(rows...) {
		j.comma = j.comma || byComma().MatchString(cell)
		points = points || byPoint().MatchString(cell)
		if either().MatchString(cell) {
			j.unsure = "the point of " + cell + " may separate thousands"
		}
	}
	if j.comma || points {
		j.unsure = ""
	}
	j.comma = j.comma && !points
}
