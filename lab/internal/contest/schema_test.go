package contest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/contest/schema"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

func TestTheSchemaIsOfWhatIsPrinted(t *testing.T) {
	s := strict.CompileSchema(schema.URL, schema.JSON())
	o := options("old", "new")
	out := assessed(t, o, made(o, each(7, 1.042, 1.031, 1.053)))
	out.Why = &compare.Why{Source: "perf", Rounds: 7, WindowS: 1, Comparisons: []compare.Reasons{{Name: "new", Base: "old",
		Says: "it is", Kinds: []compare.Reason{{Kind: "own code", Each: []float64{1}}}, All: compare.Reason{Each: []float64{1}}}}}
	text, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	fits := func(text []byte) error {
		doc, err := validator.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return s.Validate(doc)
	}
	if err := fits(text); err != nil {
		t.Error(err)
	}
	for _, c := range [][2]string{{`"verdict":"dearer"`, `"verdict":"worse"`}, {`"margin":0.03`, `"marign":0.03`},
		{`"says":[`, `"says":[1,`}} {
		if wrong := bytes.Replace(text, []byte(c[0]), []byte(c[1]), 1); bytes.Equal(wrong, text) || fits(wrong) == nil {
			t.Errorf("%s for %s is taken", c[1], c[0])
		}
	}
}

// The examples that pages show are what the command printed.
func TestTheExamplesOfPagesFitTheSchema(t *testing.T) {
	s := strict.CompileSchema(schema.URL, schema.JSON())
	paths, err := filepath.Glob("../../../data/examples/compare-*.json")
	if err != nil || len(paths) == 0 {
		t.Fatal(err, paths)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := validator.UnmarshalJSON(bytes.NewReader(text))
		if err == nil {
			err = s.Validate(doc)
		}
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}
