package strict

import (
	"strings"
	"testing"
)

type word string

type document struct {
	Share *float64       `toml:"share" json:"share"`
	Count int            `toml:"count" json:"count"`
	Seed  uint64         `toml:"seed" json:"seed"`
	Name  word           `toml:"name" json:"name"`
	Core  bool           `toml:"core" json:"core"`
	Names []string       `toml:"names" json:"names"`
	Set   map[string]any `toml:"set" json:"set"`
	Rows  []struct {
		Share float64 `toml:"share" json:"share"`
	} `toml:"rows" json:"rows"`
}

// Who writes a file need not know the types of the program that reads it.
func TestMessagesNameNoTypeOfGo(t *testing.T) {
	for text, want := range map[string]string{
		"share = \"3 %\"": "line 1, column 9: share takes a number, not a TOML string",
		"count = 2.5":     "line 1, column 9: count takes a whole number, not a TOML float",
		"seed = -1":       "line 1, column 8: seed takes a whole number from 0 on, not a TOML negative integer",
		"name = 5":        "line 1, column 8: name takes a text in quotes, not a TOML integer",
		"core = \"yes\"":  "line 1, column 8: core takes true or false, not a TOML string",
		"names = 2026-01-02": "line 1, column 9: names takes a list, each of it a text in quotes, not a TOML " +
			"local date",
		"names = [\"a\", 5]":         "line 1, column 15: names takes a list, each of it a text in quotes, not a TOML integer",
		"set = 5":                    "line 1, column 7: set takes a table, not a TOML integer",
		"[[rows]]\nshare = \"wide\"": "line 2, column 9: rows.share takes a number, not a TOML string",
		"rows = 5":                   "line 1, column 8: rows takes a list, each of it a table, not a TOML integer",
		"[name]\nx = 1":              "line 1, column 2: name takes a text in quotes, not a TOML table",
	} {
		if err := DecodeTOML([]byte(text), &document{}); err == nil || err.Error() != want {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"{\n\"count\": 2.0}":              "line 2: /count takes a whole number, not a JSON number",
		`{"seed": -1}`:                    "line 1: /seed takes a whole number from 0 on, not a JSON number",
		`{"count": 99999999999999999999}`: "line 1: /count: 99999999999999999999 is beyond any figure",
		`{"name": true}`:                  "line 1: /name takes a text in quotes, not a JSON true",
		`{"rows": [{"share": "x"}]}`:      "line 1: /rows/0/share takes a number, not a JSON string",
	} {
		if err := DecodeJSON([]byte(text), &document{}); err == nil || err.Error() != want ||
			strings.Contains(want, "Go") {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
}
