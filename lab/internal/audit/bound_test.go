package audit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// A client of 32 cores with 16.50 % idle used 26.72 cores, or 89 % of one for
// each of 30 workers; the figures printed for its processes add up to 94 %.
const crowded = `entry = "99"
[[figures]]
id = "sum"
place = "the client: its processes in sum"
printed = "2823%"
[[figures]]
id = "idle"
place = "the client: idle"
printed = "16.50%"
[[figures]]
id = "mean"
place = "the client: busy"
printed = "89.8%"
[[checks]]
id = "fits"
kind = "cpu-sum"
of = "sum"
at_most = "(1 - idle) * 32"
[[claims]]
id = "c"
place = "p"
says = "s"
metric = "throughput_rps"
`

func TestABoundIsDecidedOnAPossibleFigure(t *testing.T) {
	for claim, want := range map[string]string{
		// By the printed sum the client was full, but its other figures do not allow
		// so much use.
		"needs = [\"repeats\"]\nruns = 1\nclient_busy = \"sum / 30\"": "inconclusive  one run of each has no interval",
		"needs = [\"repeats\"]\nruns = 1\nclient_busy = \"sum / 29\"": "invalid  measures the client: its cores were 92.1 " +
			"% busy",
		"wall = \"sum / 30\"": "inconclusive  what it calls the wall was 89.1 % busy at the most that fits its other " +
			"figures, and 90 % is where this lab calls a wall",
		"wall = \"sum / 29\"": "inconclusive agrees its own figures bear it out",
		"wall = \"1 - idle\"": "inconclusive  what it calls the wall was 83.5 % busy at the most that fits its other " +
			"figures, and 90 % is where this lab calls a wall",
		// 89.95 to 90.05 %
		"wall = \"mean + 0.002\"": "inconclusive  what it calls the wall was 90 % busy at the most that fits its other " +
			"figures, and 90 % is where this lab calls a wall",
	} {
		text, err := Parse("99", []byte(crowded+claim))
		if err != nil {
			t.Fatalf("%s: %v", claim, err)
		}
		files, err := auditOf(text)
		if err != nil {
			t.Fatalf("%s: %v", claim, err)
		}
		c := files[0].Claims[0]
		if got := fmt.Sprintf("%s %s %s", c.Verdict, c.SingleRun, c.Reason); got != want {
			t.Errorf("%s: %q, want %q", claim, got, want)
		}
	}
}

func TestNoSideIsMoreThanBusy(t *testing.T) {
	text, err := Parse("99", []byte(crowded+`wall = "sum / 20"`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = auditOf(text); err == nil ||
		!strings.Contains(err.Error(), `claims "c": wall: "sum / 20" is 133.6 % or more, which no side can be`) {
		t.Errorf("%v", err)
	}
}

func TestAnAnswerIsABodyAndItsServersHead(t *testing.T) {
	for _, c := range []struct {
		stack, bytes, want string
	}{
		{"", "124 MB/s", Agrees},
		{"fiber", "123.5 MB/s", Agrees},
		// A body with half a head, and a body with two heads.
		{"", "70.0 MB/s", Disagrees},
		{"", "232 MB/s", Disagrees},
		// The size of other servers' heads is not known.
		{"net-http", "150 MB/s", Agrees},
		{"net-http", "30.0 MB/s", Disagrees},
	} {
		levels := map[string]any{setting.Route: "/simple"}
		if c.stack != "" {
			levels[setting.Stack] = c.stack
		}
		files := audited(t, printedRow(t, levels,
			map[string]string{"transfer_bytes_per_s": c.bytes, "throughput_rps": "1.000M"}))
		got := ""
		for _, f := range files[0].Findings {
			if f.Kind == Kind(law.Answer.ID) {
				got = f.Verdict
			}
		}
		if got != c.want {
			t.Errorf("%s of stack %q: %q, want %q", c.bytes, c.stack, got, c.want)
		}
	}
}

// A size that only had to exceed the body, or to stay below any possible head,
// would agree with nearly everything.
func TestSizesAreHeldAgainstWhatIsSent(t *testing.T) {
	text := `entry = "99"
[[figures]]
id = "size"
place = "p"
printed = "4,700 B"
[[checks]]
id = "size_body"
kind = "bytes-per-response"
of = "size"
`
	if _, err := Parse("99", []byte(text+`equals = "4632"`)); err != nil {
		t.Error(err)
	}
	for _, side := range []string{"at_most", "at_least"} {
		if _, err := Parse("99", []byte(text+side+` = "4632"`)); err == nil ||
			!strings.Contains(err.Error(), `checks[0] "size_body": a size needs equals`) {
			t.Errorf("%s: %v", side, err)
		}
	}
}
