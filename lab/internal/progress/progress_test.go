package progress

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/bound"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// clock stands still until it is told to go on.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func reporter(terminal bool) (*Reporter, *bytes.Buffer, *clock) {
	var out bytes.Buffer
	c := &clock{at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	return &Reporter{out: &out, terminal: terminal, now: c.now}, &out, c
}

var (
	design = &experiment.Experiment{Name: "7-made-up", Title: "A made-up comparison"}
	two    = setting.Levels{setting.Workers: setting.Int(2)}
	good   = results.Trial{Valid: true, Bound: bound.Wire, Metrics: map[string]float64{"throughput_rps": 12345.6}}
	bad    = results.Trial{Reasons: []results.Reason{{Gate: "non-2xx", Detail: "3 answers were not 2xx"}, {Gate: "errors", Detail: "1 connection errors"}}}
)

func nth(t results.Trial, seq int) results.Trial { t.Seq = seq; return t }

func check(t *testing.T, out *bytes.Buffer, want string) {
	t.Helper()
	if out.String() != want {
		t.Errorf("wrote %q\nwant  %q", out.String(), want)
	}
	out.Reset()
}

func TestLogHasOnePlainLineATrial(t *testing.T) {
	r, out, c := reporter(false)
	r.Begin(design, "smoke", 3, 40*time.Second)
	check(t, out, "7-made-up (smoke, 3 trials, about 2 min 00 s): A made-up comparison\n")
	r.Trial(1, 1, two)
	check(t, out, "")
	c.at = c.at.Add(30 * time.Second)
	r.Result(nth(good, 1))
	// Thirty seconds a trial so far, and two to go.
	check(t, out, "  trial 1/3  block 1  workers=2: 12346 requests/s, bound wire, 1 min 00 s left\n")
	r.Trial(2, 1, two)
	c.at = c.at.Add(10 * time.Second)
	r.Result(nth(bad, 2))
	check(t, out, "  trial 2/3  block 1  workers=2: invalid, 20 s left\n"+
		"  trial 2/3  block 1  workers=2: invalid: non-2xx: 3 answers were not 2xx\n"+
		"  trial 2/3  block 1  workers=2: invalid: errors: 1 connection errors\n")
	// A repeated trial makes the run longer than it was planned.
	r.Trial(3, 2, two)
	r.Result(nth(good, 3))
	out.Reset()
	r.Trial(4, 2, two)
	r.Result(nth(good, 4))
	check(t, out, "  trial 4/4  block 2  workers=2: 12346 requests/s, bound wire, 0 s left\n")
}

// What a trial of batches is about is its events.
func TestBatchesAreToldByTheirEvents(t *testing.T) {
	r, out, _ := reporter(false)
	r.Begin(design, "smoke", 2, time.Second)
	out.Reset()
	for _, c := range []struct {
		metrics map[string]float64
		want    string
	}{
		{map[string]float64{"throughput_rps": 4, "delivered_per_s": 1994.6}, ": 1995 events/s, bound "},
		{map[string]float64{"throughput_rps": 4, "delivered_per_s": 1994.6, "limit_per_s": 64000}, ": 64000 events/s at most, bound "},
	} {
		one := nth(good, 1)
		one.Metrics = c.metrics
		r.Trial(1, 1, two)
		r.Result(one)
		if !strings.Contains(out.String(), c.want) {
			t.Errorf("%q does not say %q", out, c.want)
		}
		out.Reset()
	}
}

func TestTerminalRewritesOneLine(t *testing.T) {
	r, out, c := reporter(true)
	r.Begin(design, "full", 2, 10*time.Second)
	check(t, out, "7-made-up (full, 2 trials, about 20 s): A made-up comparison\n")
	r.Trial(1, 1, setting.Levels{setting.Workers: setting.Int(10), setting.Pipelining: setting.Int(100)})
	first := "  trial 1/2  block 1  workers=10 pipelining=100  20 s left"
	check(t, out, "\r"+first)
	c.at = c.at.Add(4 * time.Second)
	r.Result(nth(good, 1))
	check(t, out, "") // the line of the next trial says it
	r.Trial(2, 1, two)
	second := "  trial 2/2  block 1  workers=2  4 s left  (last: 12346 requests/s, bound wire)"
	check(t, out, "\r"+second)
	r.Result(nth(good, 2))
	// After the last trial the line is cleared: blanks over all of it.
	check(t, out, "\r"+blanks(len(second))+"\r")
}

func TestTerminalCoversWhatALongerLineLeft(t *testing.T) {
	r, out, _ := reporter(true)
	r.Begin(design, "full", 2, time.Second)
	r.Trial(1, 1, setting.Levels{setting.Route: setting.String("/a-route-of-some-length")})
	long := "  trial 1/2  block 1  route=/a-route-of-some-length  2 s left"
	out.Reset()
	r.Trial(1, 1, setting.Levels{setting.Route: setting.String("/")})
	short := "  trial 1/2  block 1  route=/  2 s left"
	check(t, out, "\r"+short+blanks(len(long)-len(short)))
}

func TestTerminalKeepsReasonsAsLines(t *testing.T) {
	r, out, _ := reporter(true)
	r.Begin(design, "full", 3, time.Second)
	r.Trial(1, 1, two)
	line := "  trial 1/3  block 1  workers=2  3 s left"
	out.Reset()
	r.Result(nth(bad, 1))
	check(t, out, "\r"+blanks(len(line))+"\r"+"  trial 1/3  block 1  workers=2: invalid: non-2xx: 3 answers were not 2xx\n"+
		"\r\r"+"  trial 1/3  block 1  workers=2: invalid: errors: 1 connection errors\n")
	r.Trial(2, 1, two)
	if got := out.String(); got != "\r  trial 2/3  block 1  workers=2  0 s left  (last: invalid)" {
		t.Errorf("the next line is %q", got)
	}
}

func TestARunWithoutTrialsIsNamed(t *testing.T) {
	r, out, _ := reporter(false)
	r.Begin(design, "smoke", 0, 0)
	check(t, out, "7-made-up: cannot be run here\n")
}

func TestOfSeveralRunsEachIsCounted(t *testing.T) {
	r, out, _ := reporter(false)
	r.Runs = 2
	r.Begin(design, "smoke", 0, 0)
	check(t, out, "[1/2] 7-made-up: cannot be run here\n")
	r.Begin(design, "smoke", 2, time.Second)
	check(t, out, "[2/2] 7-made-up (smoke, 2 trials, about 2 s): A made-up comparison\n")
	r, out, _ = reporter(false)
	r.Runs = 1
	r.Begin(design, "smoke", 1, time.Second)
	check(t, out, "7-made-up (smoke, 1 trials, about 1 s): A made-up comparison\n")
}

func TestASecondRunStartsAfresh(t *testing.T) {
	r, out, c := reporter(true)
	r.Begin(design, "full", 5, time.Second)
	r.Trial(1, 1, two)
	r.Result(nth(good, 1))
	c.at = c.at.Add(time.Hour)
	r.Begin(design, "full", 2, time.Second)
	out.Reset()
	r.Trial(1, 1, two)
	check(t, out, "\r  trial 1/2  block 1  workers=2  2 s left")
}

func TestAFileIsNoTerminal(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if New(f).terminal {
		t.Error("a file passes for a terminal; a log would be full of carriage returns")
	}
}

func TestShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", 400 * time.Millisecond: "0 s", 600 * time.Millisecond: "1 s", 59 * time.Second: "59 s",
		59*time.Second + 700*time.Millisecond: "1 min 00 s", 61 * time.Second: "1 min 01 s", time.Hour: "60 min 00 s",
	} {
		if got := short(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

func blanks(n int) string { return string(bytes.Repeat([]byte{' '}, n)) }
