package results

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/gate"
)

func TestNothingIsFromTheFuture(t *testing.T) {
	defer func() { now = time.Now }()
	f, err := decode(t, made)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		now string
		ok  bool
	}{
		{"2026-01-02T03:06:00Z", true},
		{"2026-01-01T03:06:00Z", true}, // a clock of another time zone
		{"2026-01-01T03:04:00Z", false},
		{"2025-12-31T03:06:00Z", false},
	} {
		at, err := time.Parse(time.RFC3339, c.now)
		if err != nil {
			t.Fatal(err)
		}
		now = func() time.Time { return at }
		if err := f.checkTimes(); (err == nil) != c.ok || err != nil &&
			!strings.HasPrefix(err.Error(), "/provenance/finished_at: 2026-01-02T03:05:05Z is in the future") {
			t.Errorf("at %s: %v", c.now, err)
		}
	}
}

func TestARunIsNamedByItsStartAndHost(t *testing.T) {
	for _, c := range []struct {
		name string
		run  string
		set  func(*File)
		ok   bool
	}{
		{"by both", "20260102t030405z-h", func(*File) {}, true},
		{"by another start", "20260102t030406z-h", func(*File) {}, false},
		{"by another host", "20260102t030405z-g", func(*File) {}, false},
		{"by the client's host", "20260102t030405z-h", func(f *File) { f.Hosts.Server = "g" }, false},
		{"by a time of another zone", "20260102t040405z-h",
			func(f *File) { f.Provenance.StartedAt = f.Provenance.StartedAt.In(time.FixedZone("", 3600)) }, false},
	} {
		f, err := decode(t, made)
		if err != nil {
			t.Fatal(err)
		}
		c.set(f)
		f.Run = c.run
		if err := f.checkName(); (err == nil) != c.ok || err != nil && !strings.HasPrefix(err.Error(), "/run: ") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestReasonsNameGatesThatThereAre(t *testing.T) {
	for _, g := range gate.All {
		if err := (Trial{Reasons: []Reason{{Gate: g.Name, Detail: "x"}}}).gates("/trials/0"); err != nil {
			t.Error(err)
		}
	}
	f, err := decode(t, made)
	if err != nil {
		t.Fatal(err)
	}
	f.Trials[1].Reasons = append(f.Trials[1].Reasons, Reason{Gate: "bad-mood", Detail: "x"})
	if err := f.Check(design(t)); err == nil || err.Error() != `/trials/1/reasons/1/gate: no gate "bad-mood"` {
		t.Errorf("%v", err)
	}
}

// Names and ids become file names, addresses and HTML attributes, so other
// characters are refused here.
func TestDecodeRefusesOtherSigns(t *testing.T) {
	fields := []struct{ field, old, before, after string }{
		{"/experiment", `"experiment": "made-up"`, `"experiment": "`, `"`},
		{"/run", `"run": "20260102t030405z-h"`, `"run": "20260102t030405z-`, `"`},
		{"/hosts/server", `"server": "h"`, `"server": "`, `"`},
		{"/hosts/client", `"client": "h"`, `"client": "`, `"`},
		{"/provenance/commit", `"commit": "unknown"`, `"commit": "`, `"`},
		{"/provenance/server_cpus", `"tools": {}`, `"tools": {}, "server_cpus": "`, `"`},
		{"/provenance/client_cpus", `"tools": {}`, `"tools": {}, "client_cpus": "`, `"`},
		{"/conditions/0/id", `"id": "c1"`, `"id": "`, `"`},
		{"/conditions/0/control_of", `"id": "c1",`, `"id": "c1", "control_of": "`, `",`},
		{"/conditions/0/levels/workers", `{"workers": 1}`, `{"workers": "`, `"}`},
		{"/settings/route", `"route": "/read"`, `"route": "`, `"`},
		{"/trials/0/of", `"of": "c1"`, `"of": "`, `"`},
		{"/trials/1/reasons/0/gate", `"gate": "errors"`, `"gate": "`, `"`},
	}
	for _, f := range fields {
		if strings.Count(made, f.old) == 0 {
			t.Fatalf("%s: %q does not stand in the made-up run", f.field, f.old)
		}
		for _, sign := range []string{`<img src=x onerror=alert(1)>`, `\"'&`, "../../x", "a b\u00e9", "", "a\\u000ab",
			"\\u202ec1", "\u200b"} {
			// Slashes and blanks are allowed in routes.
			if (f.field == "/settings/route" || strings.Contains(f.field, "/levels/")) && sign == "../../x" {
				continue
			}
			_, err := decode(t, strings.Replace(made, f.old, f.before+sign+f.after, 1))
			if err == nil || !strings.HasPrefix(err.Error(), f.field+":") {
				t.Errorf("%s of %q: %v", f.field, sign, err)
			}
		}
	}
}

// Other texts are single lines with any visible character: pages escape them.
func TestDecodeRefusesWhatIsNoLine(t *testing.T) {
	fields := []struct{ field, old, before, after string }{
		{"/trials/1/reasons/0/detail", `"detail": "1 connection errors"`, `"detail": "`, `"`},
		{"/provenance/generator", `"generator": "autocannon"`, `"generator": "`, `"`},
		{"/provenance/tools/node", `"tools": {}`, `"tools": {"node": "`, `"}`},
		{"/provenance/stopped_early", `"tools": {}`, `"tools": {}, "stopped_early": "`, `"`},
		{"/warnings/0", `"topology"`, `"warnings": ["`, `"], "topology"`},
	}
	for _, f := range fields {
		if strings.Count(made, f.old) == 0 {
			t.Fatalf("%s: %q does not stand in the made-up run", f.field, f.old)
		}
		put := func(text string) error {
			_, err := decode(t, strings.Replace(made, f.old, f.before+text+f.after, 1))
			return err
		}
		for _, text := range []string{"a\\u000ab", "\\u001b[31m", "a\\u202eb", "\\u0085", "\\u2028",
			strings.Repeat("x", 4097)} {
			if err := put(text); err == nil || !strings.HasPrefix(err.Error(), f.field+": the text ") {
				t.Errorf("%s of %.20q: %v", f.field, text, err)
			}
		}
		if err := put(`<b>\"'& of 4.4 % · é`); err != nil {
			t.Errorf("%s: a text with signs of markup is a text: %v", f.field, err)
		}
	}
	_, err := decode(t, strings.Replace(made, `"tools": {}`, `"tools": {"no\u0000de": "1"}`, 1))
	if err == nil || !strings.HasPrefix(err.Error(), "/provenance/tools: the name ") {
		t.Errorf("a name that is no line: %v", err)
	}
}

// A file that is too large is refused before it is read.
func TestFilesHaveASize(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name string
		most int64
		read func(string) error
	}{
		{"results.json", mostBytes[SchemaURL], func(p string) error { _, err := Read(p); return err }},
		{"host.json", mostBytes[HostSchemaURL], func(p string) error { _, err := ReadHost(p); return err }},
	} {
		path := filepath.Join(dir, c.name)
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, c.most+1); err != nil {
			t.Fatal(err)
		}
		if err := c.read(path); err == nil || !strings.HasPrefix(err.Error(),
			fmt.Sprintf("%s: more than %d bytes", path, c.most)) {
			t.Errorf("%s, a byte over: %v", c.name, err)
		}
		// A file of a terabyte is refused without being read whole.
		if err := os.Truncate(path, 1<<40); err == nil {
			if err := c.read(path); err == nil || !strings.Contains(err.Error(), "more than") {
				t.Errorf("%s of a terabyte: %v", c.name, err)
			}
		}
	}
	long := strings.Replace(made, "\n", strings.Repeat(" ", int(mostBytes[SchemaURL]))+"\n", 1)
	if _, err := decode(t, long); err == nil || !strings.Contains(err.Error(), "at the most") {
		t.Errorf("a document over its size: %v", err)
	}
	for _, p := range committed(t, "results", "*", "*.json") {
		f, err := readOnce(p)
		if err != nil {
			t.Fatal(err)
		}
		// A run has LeastBlocks in any case, and on many cores they take more.
		if f.Provenance.Blocks <= LeastBlocks {
			continue
		}
		if info, err := os.Stat(p); err != nil || info.Size() > Longest {
			t.Errorf("%s: %d bytes, %v; no block is added that makes a run longer than %d", p, info.Size(), err, Longest)
		}
	}
}
