package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// mostRead is how many rows of a table tell how it is to be read, and how many one may have that is not read row by row.
const mostRead = 200

var numbers = later(`(^|[|\s~<>≈])\d`)

// plan tells how a table is to be read, and whether it names any figure. A head may go on in the first row, which has no
// number then. A table with a figure on each row, and a run in each column, is turned. title is what stands above it.
func (g *grid) plan(title string) bool {
	heads := g.heads[0]
	for _, below := range g.heads[1:] {
		heads = under(heads, below)
	}
	g.columns = columnsOf(heads)
	if len(g.rows) > 1 && len(g.rows[0]) >= len(heads) && wordy(g.rows[0]) {
		if both := columnsOf(under(heads, g.rows[0])); known(both) >= known(g.columns) {
			g.columns, g.rows, g.at = both, g.rows[1:], g.at[1:]
		}
	}
	if len(g.rows) > mostRead {
		return known(g.columns) > 0
	}
	down := []string{heads[0]}
	for _, cells := range g.rows {
		down = append(down, cells[0])
	}
	if turned := columnsOf(down); known(turned) > known(g.columns) {
		rows := append([][]string{heads}, g.rows...)
		g.columns, g.rows, g.at, g.turned = turned, nil, make([]int, len(heads)), true
		for n := 1; n < len(heads); n++ {
			g.rows = append(g.rows, strict.Map(rows, func(cells []string) string { return append(slices.Clip(cells), make([]string, n)...)[n] }))
		}
	}
	for _, name := range []string{title, heads[0]} {
		if c := columnOf(name); c.known() && known(g.columns[1:]) == 0 && !slices.ContainsFunc(g.rows, wordy) {
			g.crossed = &c
			return true
		}
	}
	return known(g.columns) > 0
}

// wordy tells whether a row has no number behind its first cell.
func wordy(cells []string) bool { return !numbers().MatchString(strings.Join(cells[1:], "|")) }

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

// table judges a table.
func (j *judge) table(g grid) {
	if !g.plan(j.around.title) {
		if j.skipped++; j.skipped == 1 {
			j.first = fmt.Sprintf("that of line %d: %.200s", g.line, strings.Join(g.heads[0], ", "))
		}
		return
	}
	j.decimals(g.rows[:min(len(g.rows), mostRead)])
	j.sum, j.summed = law.Quantity{}, 0
	single := known(g.columns) == 1 && g.columns[0].figure == names && len(g.rows) <= mostRead
	for i, cells := range g.rows {
		switch line := g.line + g.at[i]; {
		case len(cells) != len(g.columns):
			j.unread(line, fmt.Sprintf("line %d", line), fmt.Sprintf("it has %d cells, and the head has %d", len(cells), len(g.columns)))
		case g.crossed != nil:
			for k := 1; k < len(cells); k++ {
				j.cross(line, cells[0]+", "+g.columns[k].head, g.crossed, cells[k])
			}
		case single:
			at := slices.IndexFunc(g.columns, func(c column) bool { return c.known() })
			j.cross(line, strings.Join(cells[:at], " "), &g.columns[at], cells[at])
		default:
			j.begin()
			for k := range g.columns {
				j.take(&g.columns[k], cells[k])
			}
			if !g.turned {
				j.end(line, "")
			} else if j.row.Rated() || j.row.Timed() { // else it has units, or remarks
				j.end(line, g.heads[0][0]+" "+cells[0])
			}
		}
	}
	if g.crossed == nil {
		j.columns(g.columns)
	}
}

// A crossing is a row whose figures stand in several tables.
type crossing struct {
	line    int
	name    string
	columns []column
	cells   []string
}

// cross notes a figure of a row. If the row has it already, what was noted before is of other tables.
func (j *judge) cross(line int, name string, c *column, cell string) {
	at := slices.IndexFunc(j.crossings, func(of crossing) bool { return of.name == name })
	if len(j.crossings) > 10*mostRead || at >= 0 && slices.ContainsFunc(j.crossings[at].columns, c.same) {
		j.flush()
		at = -1
	}
	if at < 0 {
		at = len(j.crossings)
		j.crossings = append(j.crossings, crossing{line: line, name: name})
	}
	of := &j.crossings[at]
	of.columns, of.cells = append(of.columns, *c), append(of.cells, cell)
}

// flush judges the rows whose figures stand in several tables.
func (j *judge) flush() {
	for _, of := range j.crossings {
		j.begin()
		for i := range of.columns {
			j.take(&of.columns[i], of.cells[i])
		}
		j.end(of.line, of.name)
	}
	j.crossings = nil
}

var (
	byComma = later(`^\D{0,3}\d{1,3}(\.\d{3})*,(\d{1,2}|\d{4,})\D*$|\d\.\d{3},\d`)
	byPoint = later(`^\D{0,3}(\d+\.(\d{1,2}|\d{4,})|0\.\d+)\D*$|\d,\d{3}\.\d`)
	either  = later(`^\D{0,3}\d{1,3}\.\d{3}\D*$`)
)

// decimals tells from a table's cells whether decimals come after a comma, and why that is not sure.
func (j *judge) decimals(rows [][]string) {
	j.comma, j.unsure = false, ""
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
