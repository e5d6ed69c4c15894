package audit

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"github.com/line-rate/line-rate/lab/internal/strict"
)

func TestTheSchemaIsOfTheTextsThatTheLabReads(t *testing.T) {
	s := strict.CompileSchema(SchemaURL, Schema())
	fits := func(text string) error {
		var v map[string]any
		if err := toml.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		return s.Validate(v)
	}
	paths, err := filepath.Glob("../../../data/texts/*.toml")
	if err != nil || len(paths) == 0 {
		t.Fatal(err, paths)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := fits(string(text)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	const check = "entry = \"99\"\n[[checks]]\nid = \"a\"\n"
	for text, want := range map[string]bool{
		check + "kind = \"delta\"\nof = \"b\"\nequals = \"c\"":                                       true,
		check + "kind = \"deltas\"\nof = \"b\"\nequals = \"c\"":                                      false,
		check + "kind = \"delta\"\nof = \"b\"":                                                       false,
		check + "kind = \"delta\"\nof = \"b\"\nequals = \"c\"\nat_most = \"c\"":                      false,
		check + "kind = \"delta\"\nof = \"b\"\nequal = \"c\"":                                        false,
		"entry = \"99\"\n[[figures]]\nid = \"a\"\nplace = \"p\"\nprinted = \"1\"":                    true,
		"entry = \"99\"\n[[figures]]\nid = \"a\"\nprinted = \"1\"":                                   false,
		"entry = \"99\"\n[[claims]]\nid = \"a\"\nplace = \"p\"\nsays = \"s\"\nneeds = [\"repeats\"]": true,
		"entry = \"99\"\n[[claims]]\nid = \"a\"\nplace = \"p\"\nsays = \"s\"\nneeds = [\"repeat\"]":  false,
	} {
		if err := fits(text); (err == nil) != want {
			t.Errorf("%s\nfits: %v, want %v", text, err, want)
		}
	}
}
