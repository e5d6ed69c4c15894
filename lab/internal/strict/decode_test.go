package strict

import (
	"encoding/json"
	"strings"
	"testing"
)

type word string

type document struct {
	Share *float64       `toml:"share"`
	Count int            `toml:"count"`
	Seed  uint64         `toml:"seed"`
	Name  word           `toml:"name"`
	Core  bool           `toml:"core"`
	Names []string       `toml:"names"`
	Set   map[string]any `toml:"set"`
	Rows  []struct {
		Share float64 `toml:"share"`
		At    struct {
			Cores int `toml:"cores"`
			Root  int `toml:"root"`
		} `toml:"at"`
	} `toml:"rows"`
}

func TestJSONWithOneMeaningIsAccepted(t *testing.T) {
	for _, doc := range []string{
		`{}`, `[]`, `null`, `true`, `-1.5e300`, `"text"`, " \n {} \n\t ",
		`{"a":{"a":{"a":1}}}`, // the same key at different depths
		`[{"a":1},{"a":2}]`,   // and in sibling objects
		`{"a":1,"A":2}`,       // case matters for keys
		`{"":1,"/":2,"~1":3,"\u002f/":4}`,
		"\"\uFFFD é\"", `"\ud83d\ude00\\ud800 \u00e9"`,
	} {
		if err := DecodeJSON([]byte(doc), new(any)); err != nil {
			t.Errorf("%s: %v", doc, err)
		}
	}
}

func TestJSONIsRefusedByItsLine(t *testing.T) {
	for _, c := range []struct{ name, doc, line, says string }{
		{"a key twice", "{\"a\":1,\n\"b\":2,\n\"a\":3}", "line 3: ", `duplicate object member name "a"`},
		{"nested", "[0,\n[{\"b\":1},\n{\"a\":1,\n\n\"a\":2}]]", "line 5: ", `"/1/1"`},
		{"one of them escaped", `{"a":1,"\u0061":2}`, "line 1: ", "duplicate"},
		{"nothing", "", "line 1: ", "EOF"},
		{"truncated", "{\n\"a\": \"te", "line 2: ", "EOF"},
		{"text after it", "{}\n\n\nx", "line 4: ", "invalid character 'x'"},
		{"a comma at the end", "[1,\n2,\n]", "line 2: ", "invalid character ','"},
		{"a comment", "[1,\n// two\n2]", "line 2: ", "invalid character '/'"},
		{"NaN", "{\n\"a\": NaN}", "line 2: ", "invalid character 'N'"},
		{"a line break in a text", "{\n\"b\": \"x\ny\"}", "line 2: ", `'\n'`},
		{"no UTF-8, which encoding/json would replace", "{\n\"a\": \"b\xff\"}", "line 2: ", "invalid UTF-8"},
		{"half a pair", "{\n\"a\": \"\\ud800\"}", "line 2: ", "invalid surrogate pair"},
		{"a carriage return", "{\n\"a\": 1\r\n}\r\n", "line 2: ", "a carriage return"},
		{"ten thousand levels and one", strings.Repeat("[", 10001), "line 1: ", ""},
	} {
		err := DecodeJSON([]byte(c.doc), new(any))
		if err == nil || !strings.HasPrefix(err.Error(), c.line) || !strings.Contains(err.Error(), c.says) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s%s", c.name, err, c.line, c.says)
		}
	}
	var into struct {
		Count int `json:"count"`
	}
	for doc, says := range map[string]string{"{\n\"count\": 2.0}": `"/count"`, "{\n\"count\": \"x\"}": "JSON string",
		"{\n\"counts\": 1}": `unknown object member name "counts"`} {
		if err := DecodeJSON([]byte(doc), &into); err == nil || !strings.HasPrefix(err.Error(), "line 2: ") ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %s", doc, err, says)
		}
	}
}

// Who writes a file need not know the types of the program that reads it.
func TestTOMLIsRefusedByItsLine(t *testing.T) {
	for text, want := range map[string]string{
		"share = \"3 %\"":             "line 1, column 9: share takes no TOML string",
		"count = 2.5":                 "line 1, column 9: count takes no TOML float",
		"seed = -1":                   "line 1, column 8: seed takes no TOML negative integer",
		"name = 5":                    "line 1, column 8: name takes no TOML integer",
		"core = \"yes\"":              "line 1, column 8: core takes no TOML string",
		"names = 2026-01-02":          "line 1, column 9: names takes no TOML local date",
		"set = 5":                     "line 1, column 7: set takes no TOML integer",
		"[[rows]]\nshare = \"wide\"":  "line 2, column 9: rows.share takes no TOML string",
		"[name]\nx = 1":               "line 1, column 2: name takes no TOML table",
		"count = 1\ncount = 2":        "line 2, column 1: key count is already defined",
		"core = true\ncuont = 1":      `line 2: unknown key "cuont"; did you mean "count"? There are share, count, `,
		"[[rows]]\nat = { core = 2 }": `line 2: unknown key "rows.core"; did you mean "cores"? There are cores, root`,
		"[[rows]]\nShare = 2":         `unknown key "rows[0].Share": keys are written in lower case`,
		"count = 1\r\n":               "line 1: a carriage return",
	} {
		if err := DecodeTOML([]byte(text), &document{}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
	if err := DecodeTOML([]byte("[set]\nAny = { Case = 1 }\n[[rows]]\nat = { cores = 2 }"), &document{}); err != nil {
		t.Errorf("keys of the document's own: %v", err)
	}
}

func FuzzDecodeJSON(f *testing.F) {
	for _, seed := range []string{`{"a":1,"b":[true,null,"x"]}`, `{"a":1,"\u0061":2}`, `[1,]`, `{"a"`, `{} {}`, "\xff",
		`"\ud800"`, `1e999`, "[1,\n{\"x\":\n1,\"x\":2}]", `{"":{},"":1}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		err := DecodeJSON(data, new(any))
		if err == nil && !json.Valid(data) {
			t.Errorf("it accepts %q, encoding/json does not", data)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "line ") {
			t.Errorf("%q: %q names no line", data, err)
		}
	})
}
