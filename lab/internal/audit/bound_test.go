package audit

import (
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

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
