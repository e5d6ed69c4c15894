package experiment

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"github.com/line-rate/line-rate/lab/internal/strict"
)

func TestTheSchemaIsOfTheFilesThatTheLabReads(t *testing.T) {
	s := strict.CompileSchema(SchemaURL, Schema())
	fits := func(text []byte) error {
		var v map[string]any
		if err := toml.Unmarshal(text, &v); err != nil {
			t.Fatal(err)
		}
		return s.Validate(v)
	}
	paths, err := filepath.Glob("../../experiments/*.toml")
	if err != nil || len(paths) == 0 {
		t.Fatal(err, paths)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := fits(text); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	design := profiling
	if err := fits([]byte(design)); err != nil {
		t.Fatal(err)
	}
	// What an editor can know to be wrong without the lab.
	for _, c := range [][2]string{
		{"margin = 0.1", "margn = 0.1"}, {`kind = "flat"`, `kind = "flattish"`}, {`kind = "flat"`, `kind = "ratio"`},
		{"margin = 0.1\n", ""},
		{"over = \"workers\"\nmargin", "margin"}, {"why = \"Made up.\"\n", ""},
		{`metric = "throughput_rps"`, `metric = "speed"`},
		{"prefork = true", "preforks = true"}, {"prefork = true", "prefork = 1"}, {"connections = 100", "connections = -1"},
		{"connections = 100", "connections = 1.5"},
		{"http_load", "oha"}, {"levels = [1, 2, 4]", `levels = ["one", "two"]`}, {`kind = "netns"`, `kind = "moon"`},
		{`bound = "wire"`, `bound = "wires"`},
		{"at_least = 1.5", "at_least = 1.5\nat_most = 2"}, {"plus = 1", "plus = 1\nmargin = 0.1"},
		{`work = "write"`, `work = "writing"`}, {`title = "A made-up comparison"`, ""},
	} {
		if !strings.Contains(design, c[0]) {
			t.Fatalf("the design has no %q", c[0])
		}
		if fits([]byte(strings.Replace(design, c[0], c[1], 1))) == nil {
			t.Errorf("%q in place of %q fits the schema", c[1], c[0])
		}
	}
}
