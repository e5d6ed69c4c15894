package law

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// A test that is made up, and then printed: what a closed loop of connections gives.
type made struct {
	connections, depth          int
	duration, rate              float64
	requests                    float64
	mean, least, most, stdev    float64
	p50, p90, p99               float64
	busy, cores                 float64
	body, byteRate, bytes, line float64
	good, bad, fails            float64
}

func makeUp(r *rand.Rand) made {
	m := made{connections: []int{16, 64, 256, 4096}[r.IntN(4)], depth: []int{1, 1, 16}[r.IntN(3)],
		duration: 5 + math.Floor(r.Float64()*5500)/100, cores: []float64{2, 8, 64}[r.IntN(3)], line: 1e10}
	scale, wide := math.Exp(r.Float64()*6-9), 0.1+r.Float64()*1.2
	var all []float64
	for range 3000 {
		all = append(all, scale*math.Exp(wide*r.NormFloat64()))
	}
	slices.Sort(all)
	for _, v := range all {
		m.mean += v / float64(len(all))
	}
	for _, v := range all {
		m.stdev += (v - m.mean) * (v - m.mean) / float64(len(all)-1)
	}
	m.stdev = math.Sqrt(m.stdev)
	m.least, m.most = all[0], all[len(all)-1]
	m.p50, m.p90, m.p99 = all[1500], all[2700], all[2970]
	m.rate = float64(m.connections*m.depth) / m.mean * (0.6 + 0.4*r.Float64())
	m.requests = math.Round(m.rate * m.duration)
	m.busy = m.cores * r.Float64()
	m.body = math.Round(min(50+r.Float64()*4000, 0.8*m.line/8/m.rate-200))
	if m.body < 1 {
		return makeUp(r)
	}
	m.byteRate = m.rate * (m.body + 120)
	m.bytes = math.Round(m.byteRate * m.duration)
	m.bad, m.fails = math.Floor(m.requests*0.002*r.Float64()), math.Floor(3*r.Float64())
	m.good = m.requests - m.bad
	return m
}

const plantedHead = "name,connections,pipelining,duration (s),requests,req/s,avg latency,min,p50,p90,p99,max,stdev,cpu %," +
	"cores,body (B),bytes read,transfer/s,2xx,non-2xx,errors,line"

// cells prints a test as tables do: with few digits, and latencies with their units.
func (m made) cells(name string, r *rand.Rand) []string {
	latency := func(v float64) string {
		switch digits := 2 + r.IntN(2); {
		case v < 1e-3:
			return fmt.Sprintf("%.*fus", digits-1, v*1e6)
		case v < 1:
			return fmt.Sprintf("%.*f ms", digits, v*1e3)
		default:
			return fmt.Sprintf("%.*fs", digits, v)
		}
	}
	rate := fmt.Sprintf("%.2f", m.rate)
	if r.IntN(2) == 0 {
		rate = fmt.Sprintf("%.2fk", m.rate/1e3)
	}
	if m.rate < 1e3 {
		rate = fmt.Sprintf("%.1f", m.rate)
	}
	cells := []string{name, fmt.Sprint(m.connections), fmt.Sprint(m.depth), fmt.Sprintf("%.2f", m.duration),
		fmt.Sprintf("%.0f", m.requests), rate}
	for _, v := range []float64{m.mean, m.least, m.p50, m.p90, m.p99, m.most, m.stdev} {
		cells = append(cells, latency(v))
	}
	return append(cells, strings.Split(fmt.Sprintf("%.1f,%.0f,%.0f,%.0f,%.3fMB/s,%.0f,%.0f,%.0f,10Gbit/s", 100*m.busy, m.cores,
		m.body, m.bytes, m.byteRate/1e6, m.good, m.bad, m.fails), ",")...)
}

// faults are ten ways in which tables go wrong, each of one figure or of one unit.
var faults = []func(*made, *rand.Rand){
	func(m *made, _ *rand.Rand) { // microseconds, printed as milliseconds
		for _, v := range []*float64{&m.mean, &m.least, &m.p50, &m.p90, &m.p99, &m.most, &m.stdev} {
			*v *= 1000
		}
	},
	func(m *made, _ *rand.Rand) { m.rate *= 10 },
	func(m *made, _ *rand.Rand) { m.p50, m.p99 = m.p99, m.p50 },
	func(m *made, r *rand.Rand) { // the mean of another row
		m.mean = []float64{m.most * 1.5, 0.4 * (0.4*m.p50 + 0.09*m.p90 + 0.01*m.p99)}[r.IntN(2)]
	},
	func(m *made, _ *rand.Rand) { m.byteRate /= 1.048576 }, // MiB, printed as MB
	func(m *made, r *rand.Rand) { m.busy = m.cores * (1.05 + r.Float64()) },
	func(m *made, r *rand.Rand) { // more than the line carries
		m.byteRate = m.line / 8 * (1.02 + r.Float64())
		m.bytes = m.byteRate * m.duration
	},
	func(m *made, r *rand.Rand) { m.good = m.requests * (1.01 + r.Float64()) },
	func(m *made, r *rand.Rand) { // two digits change places
		digits := []byte(fmt.Sprintf("%.0f", m.requests))
		for i := range len(digits) - 1 {
			if digits[i] != digits[i+1] {
				digits[i], digits[i+1] = digits[i+1], digits[i]
				break
			}
		}
		_, _ = fmt.Sscan(string(digits), &m.requests)
	},
	func(m *made, r *rand.Rand) { m.stdev = m.most * (1.1 + r.Float64()) },
}

// drawn writes a table with lines of strokes above, below and under its head; an empty one is left out.
func drawn(rows [][]string, wide int, left, between, right string, above, under, below string) string {
	lines := []string{above}
	for i, row := range rows {
		var cells []string
		for _, cell := range row {
			cells = append(cells, fmt.Sprintf("%-*s", wide, cell))
		}
		if lines = append(lines, left+strings.Join(cells, between)+right); i == 0 {
			lines = append(lines, under)
		}
	}
	lines = append(lines, below)
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool { return line == "" }), "\n") + "\n"
}

// strokesOf is a line of them over all columns.
func strokesOf(rows [][]string, left, stroke, between, right string) string {
	return left + strings.Join(slices.Repeat([]string{stroke}, len(rows[0])), between) + right
}

func separate(rows [][]string, by string) string { return drawn(rows, 0, "", by, "", "", "", "") }

func markdown(rows [][]string) string {
	return drawn(rows, 0, "| ", " | ", " |", "", strokesOf(rows, "|", "---", "|", "|"), "")
}

// each changes all cells but those of the head, and the names.
func each(rows [][]string, change func(i int, cell string) string) [][]string {
	out := [][]string{rows[0]}
	for _, row := range rows[1:] {
		row = slices.Clone(row)
		for i := 1; i < len(row); i++ {
			row[i] = change(i, row[i])
		}
		out = append(out, row)
	}
	return out
}

// around puts something before and behind each cell.
func around(rows [][]string, before, behind string) [][]string {
	return each(rows, func(_ int, cell string) string { return before + cell + behind })
}

// apart separates the thousands of each cell, and the decimals.
func apart(rows [][]string, mark, decimal string) [][]string {
	return each(rows, func(_ int, cell string) string {
		cell = strings.ReplaceAll(cell, ".", decimal)
		end := strings.IndexFunc(cell+"x", func(r rune) bool { return r < '0' || r > '9' })
		whole := cell[:end]
		for i := end - 3; i > 0; i -= 3 {
			whole = whole[:i] + mark + whole[i:]
		}
		return whole + cell[end:]
	})
}

// shapes are those of tables as people publish them. The first row is the head, the first column has the names.
var shapes = map[string]func(rows [][]string) string{
	"CSV":              func(rows [][]string) string { return separate(rows, ",") },
	"tabs":             func(rows [][]string) string { return separate(rows, "\t") },
	"comma decimals":   func(rows [][]string) string { return separate(apart(rows, "", ","), ";") },
	"German thousands": func(rows [][]string) string { return separate(apart(rows, ".", ","), ";") },
	"Swiss thousands":  func(rows [][]string) string { return markdown(apart(rows, "'", ".")) },
	"quoted thousands": func(rows [][]string) string { return separate(around(apart(rows, ",", "."), `"`, `"`), ",") },
	"Markdown":         markdown,
	"bold":             func(rows [][]string) string { return markdown(around(rows, "**", "**")) },
	"marked": func(rows [][]string) string {
		return "# A title, of rates\n\nWords.\n\n" + markdown(around(rows, "✅ ", " (1.2x)*[^1]"))
	},
	"quotation": func(rows [][]string) string {
		return "> " + strings.ReplaceAll(strings.TrimSpace(markdown(rows)), "\n", "\n> ")
	},
	"no bars outside": func(rows [][]string) string {
		return drawn(rows, 0, "", " | ", "", "", strokesOf(rows, "", "---", "|", ""), "")
	},
	"HTML": func(rows [][]string) string {
		return drawn(around(rows, "<b>", "</b>"), 0, "<tr><td>", "</td>\n<td>", "</td></tr>", "<table>", "", "</table>")
	},
	"HTML with a head": func(rows [][]string) string {
		return drawn(rows, 0, "<tr><th>", "</th><td align='right'>", "</td></tr>", "<table><thead>", "</thead>", "</table>")
	},
	"RST": func(rows [][]string) string {
		line := strokesOf(rows, "", strings.Repeat("=", 24), " ", "")
		return drawn(rows, 24, "", " ", "", line, line, line)
	},
	"grid": func(rows [][]string) string {
		line := strokesOf(rows, "+", strings.Repeat("-", 24), "+", "+")
		return drawn(rows, 24, "|", "|", "|", line, line, line)
	},
	"box": func(rows [][]string) string {
		line := strokesOf(rows, "├", strings.Repeat("─", 24), "┼", "┤")
		return drawn(rows, 24, "│", "│", "│", line, line, line)
	},
	"psql": func(rows [][]string) string {
		return drawn(rows, 24, " ", "|", "", "", strokesOf(rows, "", strings.Repeat("-", 24), "+", ""), "(6 rows)")
	},
	"turned":      func(rows [][]string) string { return markdown(turn(rows)) },
	"CSV, turned": func(rows [][]string) string { return separate(turn(rows), ",") },
	"two lines of head": func(rows [][]string) string {
		heads := [2][]string{}
		for _, head := range rows[0] {
			name, unit, _ := strings.Cut(head, " (")
			heads[0], heads[1] = append(heads[0], name), append(heads[1], strings.TrimSuffix(unit, ")"))
		}
		return separate(append(heads[:], rows[1:]...), "\t")
	},
	"a figure a table": func(rows [][]string) string {
		text := ""
		for i, head := range rows[0][1:] {
			table := [][]string{{"name", "server"}}
			for _, row := range rows[1:] {
				table = append(table, []string{row[0], row[i+1]})
			}
			text += "\n#### " + head + "\n\n" + markdown(table)
		}
		return text
	},
	"colours and CRLF": func(rows [][]string) string {
		return "\ufeff" + strings.ReplaceAll(markdown(around(rows, "\x1b[1m", "\x1b[0m")), "\n", "\r\n")
	},
	"UTF-16": func(rows [][]string) string {
		b := []byte("\xff\xfe")
		for _, unit := range utf16.Encode([]rune(separate(rows, ","))) {
			b = append(b, byte(unit), byte(unit>>8))
		}
		return string(b)
	},
	"in code": func(rows [][]string) string {
		return "Words, and more words:\n\n```csv\n" + separate(rows, ",") + "```\n"
	},
}

// turn makes columns of rows.
func turn(rows [][]string) (out [][]string) {
	for i := range rows[0] {
		var row []string
		for _, cells := range rows {
			row = append(row, cells[i])
		}
		out = append(out, row)
	}
	return out
}

// It accuses no right row, in whatever shape, and finds at least 97 of a hundred faults, one in
// each table. It reads each row.
func TestPlantedFaultsAreFound(t *testing.T) {
	names := slices.Sorted(maps.Keys(shapes))
	for _, set := range []uint64{1, 35, 2026} {
		r := rand.New(rand.NewPCG(set, set))
		found, missed := 0, []string{}
		for i := range 100 {
			rows := [][]string{strings.Split(plantedHead, ",")}
			wrong := r.IntN(6)
			for k := range 6 {
				m, name := makeUp(r), fmt.Sprintf("right %d", k)
				if k == wrong {
					faults[i%len(faults)](&m, r)
					name = fmt.Sprintf("wrong %d", k)
				}
				rows = append(rows, m.cells(name, r))
			}
			shape := names[i/4%len(names)]
			report, err := Judge("planted", []byte(shapes[shape](rows)), Options{})
			if err != nil || report.Rows != 6 || report.Of[Unread]+report.Of[Unheld] > 0 {
				t.Errorf("set %d, table %d, %s: %v %+v\n%s", set, i, shape, err, report, shapes[shape](rows))
				continue
			}
			seen := false
			for _, f := range report.Findings {
				if strings.HasPrefix(f.Row, "right") {
					t.Errorf("set %d, table %d, %s accuses a right row: %+v", set, i, shape, f)
				}
				seen = seen || strings.HasPrefix(f.Row, "wrong")
			}
			if seen {
				found++
			} else {
				missed = append(missed, fmt.Sprintf("table %d, %s, fault %d", i, shape, i%len(faults)))
			}
		}
		if t.Logf("set %d: %d of 100 found, in %d shapes; not %q", set, found, len(names), missed); found < 97 {
			t.Errorf("set %d: %d of 100 found; not %q", set, found, missed)
		}
	}
}
