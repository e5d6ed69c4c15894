package audit

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// An Import is what has to be known of a printed table beside its cells.
type Import struct {
	Entry  string // whose text it is
	Source string // what was read
	Date   string // of the text
	Place  string // where in it the table stands
	Note   string

	// Experiment takes the table as a published run. If it is nil, the figures go
	// into the text.
	Experiment *experiment.Experiment
	Run        string // the run's name
	Hosts      results.Hosts
	Topology   results.Topology
	Settings   setting.Levels // the same in every row
	Warnings   []string       // of figures that the text prints though they cannot be true

	Columns map[string]string // settings and metrics by head
	Units   map[string]string // units by head
	Points  bool              // points before three digits are decimal points

	semicolons bool
}

// A Sheet is a table that was read: a row a condition, in settings and figures.
type Sheet struct {
	in      *Import
	columns []column
	rows    []row
}

type row struct {
	levels  setting.Levels
	figures map[string]printedFigure // by metric
	line    int
	at      map[string]int // columns of the figures in that line
}

// MostBytes is the size that a table's file can have.
const (
	MostBytes = 1 << 20
	mostRows  = 1000
)

// Read reads a table from CSV. An error names line, column and head.
func (in *Import) Read(data []byte) (*Sheet, error) {
	text, err := in.clean(data)
	if err != nil {
		return nil, err
	}
	lines, err := in.split(text)
	if err != nil {
		return nil, err
	}
	if len(lines) < 2 {
		return nil, errors.New("line 1: no rows; the first line names the columns, and each further one is a condition")
	}
	s := &Sheet{in: in}
	if i, err := s.head(lines[0].fields, lines[1].fields); err != nil {
		return nil, lines[0].at(i, err)
	}
	for _, l := range lines[1:] {
		if len(l.fields) != len(s.columns) {
			return nil, fmt.Errorf("line %d: %d fields, where the head has %d; a figure with a comma is quoted, as \"794,310\"", l.number, len(l.fields), len(s.columns))
		}
		if i, err := s.row(l); err != nil {
			return nil, l.at(i, fmt.Errorf("%s: %w", s.columns[i].head, err))
		}
	}
	return s, s.check()
}

// A line is a row of a file, with the columns in which its fields begin.
type line struct {
	number  int
	fields  []string
	columns []int
}

// at says where in the file an error is.
func (l line) at(field int, err error) error {
	return fmt.Errorf("line %d, column %d: %w", l.number, l.columns[field], err)
}

// split reads the fields of a file.
func (in *Import) split(text []byte) (lines []line, err error) {
	r := csv.NewReader(bytes.NewReader(text))
	r.Comma, r.FieldsPerRecord = separator(text), -1
	in.semicolons = r.Comma == ';'
	for {
		fields, err := r.Read()
		if err == io.EOF {
			return lines, nil
		}
		if broken, ok := errors.AsType[*csv.ParseError](err); ok {
			return nil, fmt.Errorf("line %d, column %d: %w; a field with a quote in it is quoted, and its quotes are doubled", broken.Line, broken.Column, broken.Err)
		} else if err != nil {
			return nil, err
		}
		l := line{fields: fields, columns: make([]int, len(fields))}
		for i := range fields {
			l.number, l.columns[i] = r.FieldPos(i)
		}
		for i := range fields {
			fields[i] = strings.TrimSpace(strings.NewReplacer("\u00a0", " ", "\u202f", " ").Replace(fields[i]))
			if err := strict.CheckLine(fields[i]); err != nil {
				return nil, l.at(i, fmt.Errorf("the text %w", err))
			}
		}
		if lines = append(lines, l); len(lines) > mostRows+1 {
			return nil, fmt.Errorf("line %d: more than %d rows", l.number, mostRows)
		}
	}
}

// clean removes a byte-order mark and refuses what is not text with lines.
func (in *Import) clean(data []byte) ([]byte, error) {
	if len(data) > MostBytes {
		return nil, fmt.Errorf("more than %d bytes, which no table has", MostBytes)
	}
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return nil, errors.New("line 1: the file is UTF-16; save it as UTF-8")
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	for n, line := range bytes.Split(data, []byte("\n")) {
		line = bytes.TrimSuffix(line, []byte("\r"))
		switch {
		case !utf8.Valid(line):
			return nil, fmt.Errorf("line %d: not UTF-8; save the file as UTF-8", n+1)
		case bytes.ContainsRune(line, '\r'):
			return nil, fmt.Errorf("line %d: a carriage return without a line feed; save the file with line ends of Unix or Windows", n+1)
		}
	}
	return data, nil
}

// separator is the separator of a file's fields, by its first line.
func separator(text []byte) rune {
	line, _, _ := bytes.Cut(bytes.TrimLeft(text, "\r\n"), []byte("\n"))
	quoted, n := false, map[rune]int{}
	for _, r := range string(line) {
		if r == '"' {
			quoted = !quoted
		} else if !quoted {
			n[r]++
		}
	}
	switch {
	case n['\t'] > 0:
		return '\t'
	case n[';'] > 0 && n[','] == 0:
		return ';'
	}
	return ','
}

// head reads the names of columns, with the first row's fields. An error is about the
// column of that number.
func (s *Sheet) head(record, first []string) (int, error) {
	seen := map[string]string{}
	metrics := 0
	var columns []column
	for i, head := range record {
		if head == "" {
			return i, errors.New("a column without a name")
		}
		sample := ""
		if i < len(first) {
			sample = first[i]
		}
		c, err := s.in.column(head, sample)
		if err != nil {
			return i, err
		}
		name := c.setting + c.metric.Name
		if first, again := seen[c.setting+"/"+c.metric.Name]; again {
			return i, fmt.Errorf("%q and %q are both %s; each figure stands once", first, head, name)
		}
		if _, fixed := s.in.Settings[c.setting]; fixed {
			return i, fmt.Errorf("%s is a column, and --set gives it as well", c.setting)
		}
		seen[c.setting+"/"+c.metric.Name] = head
		if c.setting == "" {
			metrics++
		}
		columns = append(columns, c)
	}
	if metrics == 0 {
		return 0, errors.New("no column with a metric, such as throughput_rps or p99 (ms)")
	}
	s.columns = columns
	return 0, nil
}

// row reads a condition.
func (s *Sheet) row(from line) (int, error) {
	r := row{setting.Levels{}, map[string]printedFigure{}, from.number, map[string]int{}}
	for i, c := range s.columns {
		if c.setting != "" {
			l, err := Level(c.setting, from.fields[i])
			if err != nil {
				return i, err
			}
			r.levels[c.setting] = l
			continue
		}
		if printedNothing(from.fields[i]) {
			continue
		}
		f, err := s.in.figure(c, from.fields[i])
		if err != nil {
			return i, err
		}
		r.figures[c.metric.Name], r.at[c.metric.Name] = f, from.columns[i]
	}
	if len(r.figures) == 0 {
		return 0, errors.New("a row without a figure")
	}
	for _, other := range s.rows {
		if other.levels.Key() == r.levels.Key() {
			key := r.levels.Key()
			if key == "" {
				key = "no setting"
			}
			return 0, fmt.Errorf("%s stands in line %d already; each condition has one row, and runs of the same one have a column replicate", key, other.line)
		}
	}
	s.rows = append(s.rows, r)
	return 0, nil
}

// inTrial is the place of a figure in an error of a results file.
var inTrial = regexp.MustCompile(`^/trials/([0-9]+)/(?:metrics|below|printed)/([a-z0-9_]+): (.*)$`)

// check checks the figures against each other by the rules of results files, whether
// they become one or not.
func (s *Sheet) check() error {
	x := s.in.Experiment
	if x == nil {
		x = &experiment.Experiment{Name: "text"}
	}
	err := s.file(x.Name).Check(x)
	if err == nil {
		return nil
	}
	found := inTrial.FindStringSubmatch(err.Error())
	if found == nil {
		return err
	}
	i, _ := strconv.Atoi(found[1])
	why, way, _ := strings.Cut(found[3], "; if the text prints it so")
	if way != "" {
		way = "; if the text prints it so, say --warn \"" + found[2] + ": printed as …\""
	}
	if strings.HasSuffix(why, "a share of more than all") {
		why += "; a percentage has % in its head or its cell"
	}
	return fmt.Errorf("line %d, column %d: %s: %s%s", s.rows[i].line, s.rows[i].at[found[2]], found[2], why, way)
}

// file gives the table as a results file.
func (s *Sheet) file(experiment string) *results.File {
	in := s.in
	f := &results.File{
		SchemaVersion: results.Earlier, Experiment: experiment, Run: in.Run, Source: results.Published, Hosts: in.Hosts,
		Text: &results.Text{Entry: in.Entry, Date: in.Date, Note: in.Note}, Topology: in.Topology, Settings: in.Settings, Warnings: in.Warnings,
	}
	if in.Experiment == nil { // only to be checked
		f.Run, f.Hosts = "published-"+in.Date+"-text", results.Hosts{Server: "text", Client: "text"}
	}
	if f.Settings == nil {
		f.Settings = setting.Levels{}
	}
	for i, r := range s.rows {
		id := fmt.Sprintf("c%d", i+1)
		t := results.Trial{Seq: i + 1, Block: 1, Condition: id, Valid: true, Metrics: map[string]float64{}, Printed: map[string]string{}}
		for name, p := range r.figures {
			t.Printed[name] = p.text
			if !p.below {
				t.Metrics[name] = p.value
				continue
			}
			if t.Below == nil {
				t.Below = map[string]float64{}
			}
			t.Below[name] = p.value
		}
		t.Bound, t.BoundWhy = gate.DecideBound(gate.EvidenceOf(t.Metrics, in.Topology.LineRateBps))
		f.Conditions = append(f.Conditions, results.Condition{ID: id, Levels: r.levels})
		f.Trials = append(f.Trials, t)
	}
	return f
}

// Run gives the table as the bytes of a results file, which reads as one.
func (s *Sheet) Run() ([]byte, error) {
	data, err := results.Encode(s.file(s.in.Experiment.Name))
	if err != nil {
		return nil, err
	}
	f := &results.File{}
	if err := results.Decode(data, results.SchemaURL, f); err != nil {
		return nil, err
	}
	// What was printed has to stand for the figure, as in every check of the text.
	for _, t := range f.Trials {
		for _, name := range metric.Names() {
			if _, _, err := figure(t, name); err != nil {
				return nil, err
			}
		}
	}
	return data, f.Check(s.in.Experiment)
}
