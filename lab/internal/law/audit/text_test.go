package audit

import (
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/law"
)

// table begins a table, to which each case adds.
const table = "entry = \"99\"\ndate = \"2026-01-01\"\n[[tables]]\nid = \"t\"\nplace = \"p\"\nexperiment = " +
	"\"99-x\"\nhost = \"h\"\n"

// rowsOf is the rest of a table, with one row.
func rowsOf(row string) string { return "topology = \"fleet\"\nrows = [{ " + row + " }]\n" }

func TestTextsThatAreRefused(t *testing.T) {
	for text, says := range map[string]string{
		"entry = ":                                "line 1",
		small + "x=1":                             `unknown key "checks.x"`,
		small + "note = \"n\"\nNote = \"m\"":      `unknown key "checks[0].Note"`,
		strings.Replace(small, `"99"`, `"98"`, 1): "called by the entry's number",
		small + "[[figures]]\nid = \"rate\"\nplace = \"p\"\nprinted = \"1\"":                  `figures[2] "rate": its id stands twice`,
		small + "[[figures]]\nid = \"A-b\"\nplace = \"p\"\nprinted = \"1\"":                   "must be lower-case",
		small + "[[figures]]\nid = \"c\"\nprinted = \"1\"":                                    "place is missing",
		small + "[[figures]]\nid = \"c\"\nplace = \"p\"\nprinted = \"lots\"":                  "no printed figure",
		small + "[[figures]]\nid = \"c\"\nplace = \"p\"\nprinted = \"1ms\"\nunit = \"B\"":     `unit "B", but "1ms" is in "s"`,
		small + "[[figures]]\nid = \"c\"\nplace = \"p\"\nprinted = \"1\"\nunit = \"furlong\"": "use one of",
		small + "[[tables]]\nid = \"t\"\nplace = \"p\"": "needs place, experiment " +
			"and host",
		table + `topology = "fleet"`:                                         "rows: none",
		table + `topology = "wifi"`:                                          `topology: "wifi"`,
		table + rowsOf(`levels = { speed = 1 }, printed = {}`):               "rows[0]: unknown setting",
		table + rowsOf(`levels = { connections = "many" }, printed = {}`):    "rows[0]: ",
		table + rowsOf(`levels = {}, printed = { speed = "1" }`):             "rows[0]: printed: speed: no such metric",
		table + rowsOf(`levels = {}, printed = { latency_p50_s = "5" }`):     `rows[0]: printed: latency_p50_s: "5" is no figure in s`,
		table + rowsOf(`levels = {}, printed = { throughput_rps = "lots" }`): "no printed figure",
		strings.Replace(table, `date = "2026-01-01"`, `date = "2026-02-30"`, 1) +
			rowsOf(`levels = {}, printed = {}`): "give the day on which the tables were published",
		table + rowsOf(`levels = {}, print = {}`):                                                          `unknown key "tables.print"`,
		small + "[[checks]]\nid = \"c\"\nkind = \"guess\"\nof = \"rate\"\nequals = \"1\"":                  `unknown kind "guess"`,
		small + "[[checks]]\nid = \"c\"\nkind = \"delta\"\nof = \"rate\"":                                  "one of equals",
		small + "[[checks]]\nid = \"c\"\nkind = \"delta\"\nof = \"rate\"\nequals = \"1\"\nat_most = \"2\"": "one of equals",
		small + "[[checks]]\nid = \"c\"\nkind = \"delta\"\nof = \"rate\"\nequals = \"1\"\nwithin = 0.1":    "note must say why",
		small + "[[checks]]\nid = \"c\"\nkind = \"delta\"\nof = \"rate\"\nequals = \"1\"\nwithin = nan":    "within must be a share",
	} {
		if _, err := Parse("99", []byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("…%s: %v, want %q", text[max(0, len(text)-60):], err, says)
		}
	}
}

func TestAStudyIsCalledByItsWord(t *testing.T) {
	text := strings.Replace(small, `"99"`, `"batch"`, 1)
	if _, err := Parse("batch", []byte(text)); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"99", "ba", "Batch", "batch-2", ""} {
		if _, err := Parse(name, []byte(strings.Replace(small, `"99"`, `"`+name+`"`, 1))); (err == nil) != (name == "99") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// Errors that show only when formulas are evaluated.
func TestTextsThatLeanOnNothing(t *testing.T) {
	for more, says := range map[string]string{
		"[[checks]]\nid = \"c\"\nkind = \"delta\"\nof = \"rat\"\nequals = \"1\"":                     `checks "c": of: "rat", character 1: no figure "rat" in data/texts/99.toml`,
		"[[checks]]\nid = \"c\"\nkind = \"delta\"\nof = \"rate\"\nequals = \"e98.x\"":                `no figure "e98.x" in data/texts/99.toml`,
		"[[checks]]\nid = \"c\"\nkind = \"delta\"\nof = \"rate\"\nequals = \"t.c1.x\"":               `no figure "t.c1.x"`,
		"[[checks]]\nid = \"c\"\nkind = \"delta\"\nof = \"rate * 2\"\nequals = \"1\"":                "place or unit: missing",
		"[[checks]]\nid = \"c\"\nkind = \"delta\"\nplace = \"p\"\nof = \"rate * 2\"\nequals = \"1\"": "place or unit: missing",
		"[[tables]]\nid = \"unused\"\nplace = \"p\"\nexperiment = \"x\"\nhost = \"h\"\n" +
			rowsOf("levels = {}, printed = {}"): `tables "unused": no experiment "x"`,
		"[[tables]]\nid = \"t\"\nplace = \"p\"\nexperiment = \"99-x\"\nhost = \"nobody\"\n" +
			rowsOf("levels = {}, printed = {}"): `no host "nobody"`,
		"[[tables]]\nid = \"t\"\nplace = \"p\"\nexperiment = \"99-x\"\nhost = \"h\"\n" + rowsOf("levels = {}, printed = {}") +
			"[[checks]]\nid = \"c\"\nkind = \"delta\"\nof = \"t.c2.workers\"\nequals = \"1\"": `character 1: no figure "t.c2.workers"`,
	} {
		text, err := Parse("99", []byte(strings.Replace(small, "\n", "\ndate = \"2026-01-01\"\n", 1)+more))
		if err != nil {
			t.Fatalf("%s: %v", more, err)
		}
		_, err = auditOf(text)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", more, err, says)
		}
	}
}

// A size that only had to exceed the body, or to stay below any possible head,
// would agree with nearly everything.
func TestSizesAreHeldAgainstWhatIsSent(t *testing.T) {
	const text = "entry = \"99\"\n[[figures]]\nid = \"size\"\nplace = \"p\"\nprinted = \"4,700 B\"\n[[checks]]\nid = \"size_body\"\n" +
		"kind = \"bytes-per-response\"\nof = \"size\"\n"
	for side, want := range map[string]bool{"equals": true, "at_most": false, "at_least": false} {
		if _, err := Parse("99", []byte(text+side+` = "4632"`)); (err == nil) != want ||
			err != nil && !strings.Contains(err.Error(), `checks[0] "size_body": a size needs equals`) {
			t.Errorf("%s: %v", side, err)
		}
	}
}

func TestMannersOfPrinting(t *testing.T) {
	for _, c := range []struct {
		figure       Printed
		v, low, high float64
	}{
		{Printed{Printed: "1ms", Cut: true}, 1e-3, 1e-3, 2e-3},
		{Printed{Printed: "20ms", Cut: true}, 20e-3, 20e-3, 21e-3},
		{Printed{Printed: "500", Exact: true}, 500, 500, 500},
		{Printed{Printed: "2.62 MB", Binary: true}, 2.62 * 1048576, 2.615 * 1048576, 2.625 * 1048576},
		{Printed{Printed: "1M", Binary: true}, 1048576, 524288, 1572864},
	} {
		c.figure.Place = "p"
		err := c.figure.read()
		if want := (law.Quantity{Value: c.v, Low: c.low, High: c.high}); err != nil || c.figure.Quantity != want.Rounded() {
			t.Errorf("%+v: %v", c.figure, err)
		}
	}
	for _, f := range []Printed{{Printed: "~5", Exact: true}, {Printed: "<1ms", Cut: true}, {Printed: "5", Cut: true, Exact: true}, {Printed: "-5%", Cut: true}} {
		f.Place = "p"
		if err := f.read(); err == nil {
			t.Errorf("taken as %+v", f)
		}
	}
}
