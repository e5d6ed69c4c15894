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
)

// A grid is a table as it stands in a text: the lines of its head, and its rows with their distance from the first line.
type grid struct {
	line  int // of the file
	heads [][]string
	rows  [][]string
	at    []int

	columns []column // of its plan, as what follows
	turned  bool
	crossed *column // each cell is this figure, of its row and its column
}

// add adds a line: to the head, if it belongs to it.
func (g *grid) add(at int, cells []string, head bool) {
	if head {
		g.heads = append(g.heads, cells)
	} else {
		g.rows, g.at = append(g.rows, cells), append(g.at, at)
	}
}

// forms are those of tables in a text. Each tells how many lines from here on are its own, and gives those with bars
// between their cells.
var forms = []func(lines []string) (barred []string, n int){tagged, underlined, boxed}

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
		var barred []string
		n := 0
		for i := 0; i < len(forms) && n == 0; i++ {
			barred, n = forms[i](lines[at:])
		}
		if n > 0 {
			if g.cut(barred); strings.Contains(lines[at], "<table") {
				clear(g.at) // rows of HTML are no lines of the file
			}
		} else if at-top < mostTop {
			g, n = separated(lines[at:])
		}
		if g.heads != nil {
			j.output()
			g.line = at + 1
			j.table(g)
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
		return fmt.Errorf("JSON is not read, nested or flat (it begins with %s): give a table, as CSV, or the text that the tool prints", found[1])
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
	if strings.Contains(text, "\r") {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	}
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

// cut makes a table of lines with bars: what stands above its rule is the head. autocannon's own boxes are left to be read as
// what a tool prints.
func (g *grid) cut(lines []string) {
	columns := 0
	for at, line := range lines {
		if n := ruled(line); n > 0 || !strings.ContainsAny(line, bars) {
			if g.heads != nil && columns == 0 {
				columns = n
			}
			continue
		}
		line = strings.TrimSuffix(strings.TrimPrefix(toBar.Replace(strings.TrimSpace(line)), "|"), "|")
		var cells []string
		for cell := range strings.SplitSeq(line, "|") {
			if strings.ContainsAny(cell, "*_`<[") {
				cell = emphasis().ReplaceAllString(cell, "$1")
			}
			cells = append(cells, strings.TrimSpace(cell))
		}
		g.add(at, cells, columns == 0)
	}
	g.heads = slices.DeleteFunc(g.heads, func(cells []string) bool { return columns > 1 && len(cells) != columns })
	if len(g.heads) == 0 || g.rows == nil || slices.Contains([]string{"Stat", "Code", "Percentile"}, g.heads[0][0]) {
		g.heads = nil
	}
}

// boxed reads a table that has bars: of Markdown, in a box, in RST's grid, of psql.
func boxed(lines []string) (barred []string, n int) {
	n = slices.IndexFunc(lines, func(line string) bool {
		return !strings.ContainsAny(line, bars) && (ruled(line) == 0 || !strings.ContainsAny(line, corners))
	})
	if n < 0 {
		n = len(lines)
	}
	return lines[:n], n
}

var underline = later(`^ *[=-]{2,}( +[=-]{2,})+ *$`)

// underlined reads a table whose columns lie below strokes, as RST's simple ones.
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
	var starts []int
	for i, r := range lines[head] {
		if r != ' ' && (i == 0 || lines[head][i-1] == ' ') {
			starts = append(starts, i)
		}
	}
	for ; n < len(lines) && strings.TrimSpace(lines[n]) != "" && (n <= head || !under(n)); n++ {
		runes, line := []rune(lines[n]), ""
		for i, from := range starts {
			to := len(runes)
			if i+1 < len(starts) {
				to = min(to, starts[i+1])
			}
			line += "|" + string(runes[min(from, to):to])
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

// tagged reads a table of HTML: each of its rows becomes a line. Without a thead the first row is the head.
func tagged(lines []string) (barred []string, n int) {
	if !strings.Contains(lines[0], "<table") {
		return nil, 0
	}
	n = 1 + slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, "</table") })
	if n == 0 {
		n = len(lines)
	}
	text := strings.Join(strings.Fields(strings.Join(lines[:n], " ")), " ")
	for line := range strings.SplitSeq(tags.Replace(text), "\n") {
		barred = append(barred, html.UnescapeString(tag().ReplaceAllString(line, "")))
	}
	if !strings.Contains(text, "</thead") {
		barred = slices.Insert(barred, min(2, len(barred)), "|-|")
	}
	return barred, n
}

// separated reads CSV, or a table whose cells tabs or semicolons separate, up to an empty line. Prose has commas as well:
// with a space behind them they need two heads that are known, and as many in the next line. What a colon ends is no head, but a key of what a tool printed.
func separated(lines []string) (g grid, n int) {
	n = slices.IndexFunc(lines[:min(len(lines), 6)], func(line string) bool { return line == "" || len(line) > 4000 })
	for _, by := range "\t;," {
		if n >= 0 && n < 2 || !strings.ContainsRune(lines[0], by) || strings.Contains(lines[0], ":"+string(by)) {
			continue
		}
		read := func(lines []string) (g grid) {
			r := csv.NewReader(strings.NewReader(strings.Join(lines, "\n")))
			r.Comma, r.FieldsPerRecord, r.LazyQuotes = by, -1, true
			for cells, err := r.Read(); err == nil; cells, err = r.Read() {
				at, _ := r.FieldPos(0)
				g.add(at-1, cells, g.heads == nil)
			}
			return g
		}
		top := read(lines[:min(len(lines), 6)])
		if len(top.rows) == 0 || !top.plan("") ||
			strings.Contains(lines[0], ", ") && (known(top.columns) == 1 || len(top.rows[0]) != len(top.heads[0])) {
			continue
		}
		n = slices.IndexFunc(lines, func(line string) bool { return line == "" || strings.HasPrefix(line, fence) })
		if n < 0 {
			n = len(lines)
		}
		return read(lines[:n]), n
	}
	return grid{}, 0
}
