package law

import (
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"html"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A grid is a table as the text has it: its head, then its rows.
type grid struct {
	rows    [][]string
	at      []int // their distances from the first line
	columns []column
	turned  bool        // a row was a column
	more    func() bool // adds a row of those that are not read yet; nil: there are none
}

func (g *grid) add(at int, cells []string) { g.rows, g.at = append(g.rows, cells), append(g.at, at) }

const (
	fence    = "```" // begins and ends code in Markdown
	mostTop  = 20    // lines that may come right above CSV
	mostRead = 200   // rows of a table that tell how it is to be read
)

// read finds tables and what tools printed in a text, and judges them.
func (j *judge) read(raw []byte) error {
	text, err := decoded(raw)
	if err != nil {
		return err
	}
	lines := strings.Split(text, "\n")
	for at, top := 0, 0; at < len(lines); { // top is the first line of those together
		// Without a table that begins here, n lines are not to be tried again.
		g, n := barred(lines[at:])
		if strings.Contains(lines[at], "<table") {
			g, n = tagged(lines[at:])
		} else if n == 0 && at-top < mostTop {
			g, n = separated(lines[at:])
		}
		if g.rows != nil {
			j.output()
			j.table(g, at+1)
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
	if found := re("inJSON").FindStringSubmatch(text); found != nil && j.Rows == 0 {
		return fmt.Errorf("JSON is not read, nested or flat (it begins with %s): give a table, as CSV, or the text that the "+
			"tool prints", found[1])
	}
	return nil
}

// decoded is a text in UTF-8 whose lines end in LF, without colours, marks of quotation, and what tells its encoding.
func decoded(raw []byte) (string, error) {
	text := string(raw)
	for mark, order := range map[string]binary.ByteOrder{"\xff\xfe": binary.LittleEndian, "\xfe\xff": binary.BigEndian} {
		if strings.HasPrefix(text, mark) {
			units := make([]uint16, len(raw)/2)
			_, _ = binary.Decode(raw, order, units) // all that it can lack is an odd last byte
			text = string(utf16.Decode(units))
		}
	}
	text = strings.TrimPrefix(text, "\ufeff")
	if at := strings.IndexByte(text, 0); at >= 0 {
		return "", fmt.Errorf("it is no text: byte %d is zero", at)
	}
	text = re("colours").ReplaceAllString(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "")
	if strings.HasPrefix(text, ">") || strings.Contains(text, "\n>") {
		text = re("quoted").ReplaceAllString(text, "")
	}
	return text, nil
}

const (
	bars    = "|│┃║"
	strokes = "-=─━═"
	corners = "+┼╪╬╋┿├┤┌┐└┘┬┴╞╡╔╗╚╝╠╣╦╩┏┓┗┛┣┫┳┻┡┩╇╭╮╰╯"
)

var toBar = strings.NewReplacer(`\|`, "¦", "│", "|", "┃", "|", "║", "|")

// ruled tells how many columns a line rules off; 0 if it is no rule.
func ruled(line string) int {
	if strings.Trim(line, strokes+corners+bars+": ") != "" {
		return 0
	}
	return len(strings.FieldsFunc(line, func(r rune) bool { return !strings.ContainsRune(strokes, r) }))
}

// barred reads a table that has bars between its cells: of Markdown, in a box, in RST's grid, of psql. Where strokes
// begin columns, as in RST's simple tables, it draws the bars, up to an empty line. A rule comes below its head. The
// boxes of autocannon count as output of a tool.
func barred(lines []string) (g *grid, n int) {
	g = &grid{}
	rule := slices.IndexFunc(lines[:min(3, len(lines))], func(s string) bool { return s == "" || re("rule").MatchString(s) })
	simple := rule >= 0 && lines[rule] != ""
	columns := 0 // by the rule
	for ; n < len(lines); n++ {
		line, across := lines[n], ruled(lines[n])
		if simple && line == "" || !simple && !strings.ContainsAny(line, bars) &&
			(across == 0 || !strings.ContainsAny(line, corners)) {
			break
		}
		if across > 0 {
			columns = max(columns, across*min(1, len(g.rows)))
			continue
		}
		if simple {
			cells := []rune(line)
			for i := range min(len(cells), len(lines[rule])-1) {
				if i > 0 && lines[rule][i] == ' ' && lines[rule][i+1] != ' ' {
					cells[i] = '|'
				}
			}
			line = string(cells)
		}
		line = strings.TrimSuffix(strings.TrimPrefix(toBar.Replace(strings.TrimSpace(line)), "|"), "|")
		if strings.ContainsAny(line, "*_`<[") {
			line = re("emphasis").ReplaceAllString(line, "$1")
		}
		g.add(n, strict.Map(strings.Split(line, "|"), strings.TrimSpace))
	}
	odd := len(g.rows) < 2 || columns == 0 || columns > 1 && !simple && columns != len(g.rows[0])
	if odd || slices.Contains([]string{"Stat", "Code", "Percentile"}, g.rows[0][0]) {
		g.rows = nil
	}
	return g, n
}

// tagged reads a table of HTML. Its rows are no lines of the file.
func tagged(lines []string) (g *grid, n int) {
	g, n = &grid{}, 1+slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, "</table") })
	if n == 0 {
		n = len(lines)
	}
	text := strings.Join(strings.Fields(strings.Join(lines[:n], " ")), " ")
	for _, row := range strings.Split(text, "<tr")[1:] {
		cells := strict.Map(re("cell").Split(row, -1)[1:], func(cell string) string {
			return strings.TrimSpace(html.UnescapeString(re("tag").ReplaceAllString(cell, "")))
		})
		if cells != nil {
			g.add(0, cells)
		}
	}
	return g, n
}

// separated reads CSV, or a table whose cells tabs or semicolons separate, up to an empty line. Prose has commas as
// well: with a space behind them they need two heads that are known, and as many in the next line. What a colon ends is
// no head, but a key of what a tool printed.
func separated(lines []string) (g *grid, n int) {
	const longest = 4000
	n = slices.IndexFunc(lines, func(s string) bool { return s == "" || len(s) > longest || strings.HasPrefix(s, fence) })
	if n < 0 {
		n = len(lines)
	}
	for _, by := range "\t;," {
		if n < 2 || !strings.ContainsRune(lines[0], by) || strings.Contains(lines[0]+string(by), ":"+string(by)) {
			continue
		}
		read := func(lines []string) *grid {
			r, g := csv.NewReader(strings.NewReader(strings.Join(lines, "\n"))), &grid{}
			r.Comma, r.FieldsPerRecord, r.LazyQuotes = by, -1, true
			g.more = func() bool {
				cells, err := r.Read()
				if err == nil {
					at, _ := r.FieldPos(0)
					g.add(at-1, cells)
				}
				return err == nil
			}
			for len(g.rows) <= mostRead && g.more() {
			}
			return g
		}
		top := read(lines[:min(n, 6)])
		prose := strings.Contains(lines[0], ", ")
		odd := len(top.rows) < 2 || prose && len(top.rows[0]) != len(top.rows[1])
		if !odd && top.plan("") && !(prose && figures(top.columns) == 1) {
			return read(lines[:n]), n
		}
	}
	return &grid{}, 0
}

// under joins two lines of a head. A heading above several columns may be there once.
func under(above, below []string) (heads []string) {
	over := ""
	for i, name := range below {
		if i < len(above) && above[i] != "" {
			over = above[i]
		}
		may := []string{strings.TrimSpace(over + " " + name), name, over}
		at := slices.IndexFunc(may, func(head string) bool { return columnOf(head).figure != unused })
		heads = append(heads, may[max(at, 0)])
	}
	return heads
}

// wordy tells whether a row has no number behind its first cell.
func wordy(cells []string) bool { return !re("numbers").MatchString(strings.Join(cells[1:], "|")) }

// plan makes a row of each run, and tells whether the table names any figure. A head may go on in the next row, which
// has no number then. A table with a figure on each row, and a run in each column, is turned. One whose cells are all
// the figure that its first head names, or the line above, gets a row for each cell.
func (g *grid) plan(title string) bool {
	g.columns = columnsOf(g.rows[0])
	if len(g.rows) > 2 && len(g.rows[1]) >= len(g.rows[0]) && wordy(g.rows[1]) {
		both := under(g.rows[0], g.rows[1])
		if columns := columnsOf(both); figures(columns) >= figures(g.columns) {
			g.columns, g.rows, g.at = columns, append([][]string{both}, g.rows[2:]...), g.at[1:]
		}
	}
	if len(g.rows) > mostRead {
		return figures(g.columns) > 0
	}
	var turned [][]string
	for n := range g.rows[0] {
		turned = append(turned, strict.Map(g.rows, func(cells []string) string {
			return append(slices.Clip(cells[min(n, len(cells)):]), "")[0] // it may be short
		}))
	}
	if columns := columnsOf(turned[0]); figures(columns) > figures(g.columns) {
		*g = grid{turned, make([]int, len(turned)), columns, true, nil}
	}
	for _, name := range []string{title, g.rows[0][0]} {
		if c := columnOf(name); c.known() && figures(g.columns[1:]) == 0 && !slices.ContainsFunc(g.rows[1:], wordy) {
			crossed := grid{rows: [][]string{{"", name}}, at: []int{0}, columns: []column{{figure: names}, c}}
			for i, cells := range g.rows[1:] {
				for k := 1; k < min(len(cells), len(g.rows[0])); k++ {
					crossed.add(g.at[i+1], []string{cells[0] + ", " + g.rows[0][k], cells[k]})
				}
			}
			*g = crossed
		}
	}
	return figures(g.columns) > 0
}

// table judges a table that begins with some line.
func (j *judge) table(g *grid, from int) {
	heads := strings.Join(g.rows[0], ", ")
	if !g.plan(j.title) {
		if j.skipped++; j.skipped == 1 {
			j.first = fmt.Sprintf("that of line %d: %.200s", from, heads)
		}
		return
	}
	j.decimals(g.rows[1:min(len(g.rows), mostRead)])
	single := figures(g.columns) == 1 && g.columns[0].figure == names && len(g.rows) <= mostRead
	for i := 1; i < len(g.rows) || g.more != nil && g.more(); i++ {
		cells := g.rows[i]
		g.rows[i] = nil // a long table is never there as a whole
		j.begin(from + g.at[i])
		for k := range min(len(cells), len(g.columns)) {
			j.take(&j.row, &g.columns[k], cells[k])
		}
		switch {
		case len(cells) != len(g.columns):
			j.row.name, j.row.wrong = "", fmt.Sprintf("it has %d cells, and the head has %d", len(cells), len(g.columns))
			j.end(fmt.Sprintf("line %d", j.row.line))
		case single && j.row.wrong == "":
			at := slices.IndexFunc(g.columns, column.known)
			j.keep(g.columns[at].figure)
		case !g.turned:
			j.end("")
		case j.row.told(): // else it has units, or remarks
			j.end(g.rows[0][0] + " " + cells[0])
		}
	}
	j.columns(g.columns)
}

// decimals tells from a table's cells whether decimals come after a comma, and why that is not sure.
func (j *judge) decimals(rows [][]string) {
	text := strings.Join(slices.Concat(rows...), "\n")
	points, either := re("byPoint").MatchString(text), re("either").FindString(text)
	j.comma, j.unsure, j.sum, j.summed = re("byComma").MatchString(text), "", Quantity{}, 0
	if either != "" && !j.comma && !points {
		j.unsure = "the point of " + either + " may separate thousands"
	}
	j.comma = j.comma && !points
}
