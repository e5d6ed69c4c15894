package certify

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/compare"
)

// certificate is one whose claim was reproduced in twelve blocks.
func certificate(t *testing.T) *Certificate {
	t.Helper()
	of := claim(Rises)
	made := outcome(&of, step{}, step{})
	for i := range made.Comparisons {
		var each []float64
		for n := range 12 {
			each = append(each, 1.2+0.01*float64(n))
		}
		made.Comparisons[i].Throughput = compare.Over(each, each, 0.025)
	}
	made.Says = []string{}
	if of.Judge(made); of.Verdict != Reproduced {
		t.Fatal(of.Says)
	}
	return &Certificate{SchemaVersion: Version, Table: "table.csv", TableSHA256: strings.Repeat("ab", 32), Experiment: strings.Repeat("cd", 32),
		Claims: []Claim{of}, Outcome: made}
}

func TestACertificateThatWasChangedIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Certificate)
		sealed bool // with a number that fits
		want   string
	}{
		"as it was":         {func(*Certificate) {}, true, ""},
		"a changed figure":  {func(c *Certificate) { c.Outcome.Servers[0].Throughput = 5 }, false, "/number: "},
		"a changed verdict": {func(c *Certificate) { c.Claims[0].Verdict = Refuted }, true, "/claims/0/verdict: "},
		"changed words":     {func(c *Certificate) { c.Claims[0].Says = "it is fast" }, true, "/claims/0/says: "},
		"another direction": {func(c *Certificate) { c.Claims[0].Kind = Falls }, true, "/claims/0/kind: "},
		"an interval that its blocks do not give": {func(c *Certificate) { c.Outcome.Comparisons[1].Throughput.Low = 1.25 },
			true, "/outcome/comparisons/1/throughput_rps: "},
		"another level":              {func(c *Certificate) { c.Claims[0].Levels = []int{1, 2, 64} }, true, "/claims/0/levels/2: "},
		"less confidence":            {func(c *Certificate) { c.Outcome.Confidence = 0.5 }, true, "/outcome/confidence: "},
		"a client that was the wall": {func(c *Certificate) { c.Outcome.Servers[1].Bound = "client-cpu" }, true, "/claims/0/verdict: "},
		"no claim":                   {func(c *Certificate) { c.Claims = []Claim{} }, true, "/claims"},
		"one condition":              {func(c *Certificate) { c.Claims[0].Of = c.Claims[0].Of[:1] }, true, "/claims/0/of: "},
		"a rate too few":             {func(c *Certificate) { c.Claims[0].Printed = c.Claims[0].Printed[:2] }, true, "/claims/0/printed_rps: "},
		"another version":            {func(c *Certificate) { c.SchemaVersion = 9 }, true, "/schema_version: "},
		"two lines":                  {func(c *Certificate) { c.Claims[0].Row = "a\nb" }, true, "/claims/0/row"},
	} {
		of := certificate(t)
		if err := of.Seal(); err != nil {
			t.Fatal(err)
		}
		if c.change(of); c.sealed {
			if err := of.Seal(); err != nil {
				t.Fatal(err)
			}
		}
		text, err := json.MarshalIndent(of, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		_, err = Read(text)
		if got := fmt.Sprint(err); c.want == "" && err != nil || !strings.Contains(got, c.want) || strings.Contains(got, "\n") {
			t.Errorf("%s: %s; want %q", name, got, c.want)
		}
	}
	if _, err := Read([]byte(`{"claim": 1}`)); err == nil {
		t.Error("an unknown field is taken")
	}
}

func TestABadgeHasTheColourOfTheWorstVerdict(t *testing.T) {
	for _, c := range []struct{ verdicts, message, color string }{
		{Reproduced, "1 reproduced", "brightgreen"},
		{Reproduced + " " + Inconclusive + " " + Reproduced, "2 reproduced, 1 inconclusive", "lightgrey"},
		{Refuted + " " + Inconclusive, "1 inconclusive, 1 refuted", "red"},
	} {
		of := &Certificate{}
		for _, v := range strings.Fields(c.verdicts) {
			of.Claims = append(of.Claims, Claim{Verdict: v})
		}
		if b := of.Badge(); b.Message != c.message || b.Color != c.color {
			t.Errorf("%s: %+v", c.verdicts, b)
		}
	}
}
