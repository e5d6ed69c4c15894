package pages

import (
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/verdict/sample"
)

// A record holds one set of programs: the newest run's. Runs of others are named apart.
func TestARecordHoldsOneSetOfPrograms(t *testing.T) {
	x := sample.Design(t, "", sample.IsFlat)
	at := 0
	of := func(name string, made map[string]string) verdict.Run {
		r := runOf(x, name, 1.01, 0.99, 1)
		p := *r.File.Provenance
		at++
		p.StartedAt = p.StartedAt.AddDate(0, 0, at)
		p.Binaries = map[string]host.Binary{}
		for program, digest := range made {
			kind, of, _ := strings.Cut(digest, " ")
			b := host.Binary{SHA256: strings.Repeat(kind, 64)}
			if of != "" {
				b.MadeOf = strings.Repeat(of, 64)
			}
			p.Binaries[program] = b
		}
		r.File.Provenance = &p
		return r
	}
	for _, c := range []struct {
		name string
		runs []map[string]string // what each run's programs are: their files and, if known, what they are made of
		want string              // the runs of the newest one's record
	}{
		{"one file", []map[string]string{{"fiber_server": "1"}, {"fiber_server": "1"}}, "a, b"},
		{"another file, and nothing more is known", []map[string]string{{"fiber_server": "1"}, {"fiber_server": "2"}}, "b"},
		{"another file of the same", []map[string]string{{"fiber_server": "1 a"}, {"fiber_server": "2 a"}}, "a, b"},
		{"made of something else", []map[string]string{{"fiber_server": "1 a"}, {"fiber_server": "2 b"}}, "b"},
		{"the same file, before it told", []map[string]string{{"fiber_server": "1"}, {"fiber_server": "1 a"}}, "a, b"},
		{"another load generator", []map[string]string{{"fiber_server": "1 a", "http_load": "1 a"},
			{"fiber_server": "1 a", "http_load": "2 b"}}, "b"},
		{"another lab and another node", []map[string]string{{"lab": "1", "node": "1", "fiber_server": "1"},
			{"lab": "2", "node": "2", "fiber_server": "1"}}, "a, b"},
		{"back to the first", []map[string]string{{"fiber_server": "1"}, {"fiber_server": "2"}, {"fiber_server": "1"}},
			"a, c"},
		{"a server more", []map[string]string{{"fiber_server": "1"}, {"fiber_server": "1", "c_floor": "3"}}, "a, b"},
		{"one that names none does not join two", []map[string]string{{"fiber_server": "1"}, {"fiber_server": "2"}, nil},
			"b, c"},
	} {
		var runs []verdict.Run
		var files []Made
		for i, made := range c.runs {
			runs = append(runs, of(string(rune('a'+i)), made))
			files = append(files, Made{verdict.Decide(x, sample.Machine, runs), x})
		}
		newest := files[len(files)-1]
		if got := strings.Join(newest.Record.Runs, ", "); got != c.want ||
			newest.Claims[0].Blocks != 3*len(newest.Record.Runs) {
			t.Errorf("%s: the record has %s with %d blocks, want %s", c.name, got, newest.Claims[0].Blocks, c.want)
		}
	}
}

// A machine without a mark is surely one only until it starts again.
func TestBlocksOfTwoStartsCountTogetherOnAKnownMachineOnly(t *testing.T) {
	x := sample.Design(t, "", sample.IsFlat)
	marked := *sample.Machine
	marked.Mark = "0123456789abcdef"
	type start struct {
		boot, kernel string
		known        bool
	}
	for _, c := range []struct {
		name   string
		h      *host.Profile
		starts []start
		want   string
	}{
		{"one start", sample.Machine, []start{{boot: "1"}, {boot: "1"}}, "a, b"},
		{"two starts", sample.Machine, []start{{boot: "1"}, {boot: "2"}}, "b"},
		{"two starts of a known machine", &marked, []start{{boot: "1", known: true}, {boot: "2", known: true}}, "a, b"},
		{"two starts, the mark not read in one", &marked, []start{{boot: "1", known: true}, {boot: "2"}}, "b"},
		{"one start, the mark not read in one run", &marked, []start{{boot: "1", known: true}, {boot: "1"}}, "a, b"},
		{"two kernels, before runs told", sample.Machine, []start{{kernel: "6.1"}, {kernel: "6.2"}}, "b"},
		{"one kernel, before runs told", sample.Machine, []start{{kernel: "6.1"}, {kernel: "6.1"}}, "a, b"},
		{"two kernels of a known machine, before runs told", &marked, []start{{kernel: "6.1"}, {kernel: "6.2"}}, "a, b"},
		{"before and after runs told", sample.Machine, []start{{kernel: "6.1"}, {boot: "1", kernel: "6.1"}}, "b"},
	} {
		var runs []verdict.Run
		var files []Made
		for i, s := range c.starts {
			r := runOf(x, string(rune('a'+i)), 1.01, 0.99, 1)
			p := *r.File.Provenance
			p.StartedAt = p.StartedAt.AddDate(0, 0, i)
			p.Boot, p.Known, p.Kernel = s.boot, s.known, map[string]string{"osrelease": s.kernel}
			r.File.Provenance = &p
			runs = append(runs, r)
			files = append(files, Made{verdict.Decide(x, c.h, runs), x})
		}
		if got := strings.Join(files[1].Record.Runs, ", "); got != c.want {
			t.Errorf("%s: the record has %s, want %s", c.name, got, c.want)
		}
	}
}
