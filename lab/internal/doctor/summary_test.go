package doctor

import (
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/tune"
)

func TestTheSummarySaysWhatKeepsFromMeasuring(t *testing.T) {
	for _, c := range []struct {
		name string
		fs   []Finding
		want []string
	}{
		{"what bars claims disturbs no trial", []Finding{{Level: Limit, About: "turbo"}, {Level: Limit, About: "wire", Bars: true}},
			[]string{"As it is now, trials are disturbed by: turbo."}},
		{"other load", []Finding{{Level: Limit, About: "other load", Seen: "1.94 cores in 5s", Mend: "stop what is named",
			Spoils: true}}, []string{
			"As it is now, trials of every claim are invalid: other load: 1.94 cores in 5s; to mend it: stop what is named."}},
		{"nothing can run", []Finding{{Level: Fault, About: "node", Seen: "missing"}}, []string{
			"This machine can decide no claim yet: node is missing."}},
	} {
		if got := Summary(c.fs); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s", c.name, strings.Join(got, "\n"))
		}
	}
}

func TestAReportFitsItsColumns(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("word ", 60))
	command := "echo " + strings.Repeat("x", 120)
	var b strings.Builder
	fs := []Finding{
		{Level: Good, About: "swap", Seen: "none"},
		{Level: Limit, About: "open files", Seen: long, Means: long, Mend: command},
		{Level: Limit, About: "the fiber-all server", Seen: "lacking x"},
		{Level: Limit, About: "other load", Seen: "1.9 cores", Spoils: true},
		{Level: Fault, About: "event producer", Seen: "missing"},
	}
	if err := Print(&b, fs, []string{long}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	for _, l := range lines {
		if len(l) > widest && !strings.Contains(l, command) {
			t.Errorf("%d columns: %s", len(l), l)
		}
		if strings.TrimRight(l, " ") != l {
			t.Errorf("spaces at the end of %q", l)
		}
	}
	if !strings.HasPrefix(lines[0], "word") || strings.Count(b.String(), "word") != 180 ||
		!strings.Contains(b.String(), "to mend it: "+command+"\n") {
		t.Error(b.String())
	}
	// The summary comes first, then the worst; columns are apart.
	at := 0
	for _, want := range []string{"word\n\n", "fault  event producer        missing\n",
		"limit  other load            1.9 cores\n",
		"limit  open files            word", "limit  the fiber-all server  lacking x\n",
		"ok     swap                  none\n"} {
		i := strings.Index(b.String()[at:], want)
		if i < 0 {
			t.Fatalf("no %q after byte %d of\n%s", want, at, b.String())
		}
		at += i
	}
}

func TestWhatIsTurnedIsAFaultUnlessARunRestoresIt(t *testing.T) {
	m := madeUp(t, nil)
	m.Left = []tune.Left{{Path: "/a", By: tune.ByHand}, {Path: "/b", By: tune.Orphan}, {Path: "/c", By: tune.Held},
		{Path: "/d", By: tune.ByHand, Service: true}}
	var levels []Level
	for _, f := range m.turned() {
		levels = append(levels, f.Level)
	}
	if want := []Level{Fault, Limit, Fault, Good}; !slices.Equal(levels, want) {
		t.Errorf("%v, want %v", levels, want)
	}
}
