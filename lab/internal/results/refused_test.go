package results

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Names and ids become file names, addresses and HTML attributes, so other
// characters are refused here.
func TestDecodeRefusesOtherSigns(t *testing.T) {
	fields := []struct{ field, old, before, after string }{
		{"/experiment", `"experiment": "made-up"`, `"experiment": "`, `"`},
		{"/run", `"run": "20260102t030405z-h"`, `"run": "20260102t030405z-`, `"`},
		{"/hosts/server", `"server": "h"`, `"server": "`, `"`},
		{"/hosts/client", `"client": "h"`, `"client": "`, `"`},
		{"/conditions/0/id", `"id": "c1"`, `"id": "`, `"`},
	}
	for _, f := range fields {
		if strings.Count(made, f.old) == 0 {
			t.Fatalf("%s: %q does not stand in the made-up run", f.field, f.old)
		}
		for _, sign := range []string{`<img src=x onerror=alert(1)>`, `\"'&`, "../../x", "a b\u00e9", "", "a\\u000ab",
			"\\u202ec1", "\u200b"} {
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
		{"results.json", mostBytes, func(p string) error { _, err := Read(p); return err }},
		{"host.json", mostBytes, func(p string) error { _, err := ReadHost(p); return err }},
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
	long := strings.Replace(made, "\n", strings.Repeat(" ", int(mostBytes))+"\n", 1)
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
