// Package schema has the published schema of what linerate compare --json prints. It is apart from
// package contest, since what writes the schema needs nothing that measures.
package schema

import (
	_ "embed" // the meanings

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// URL identifies the published schema. Nothing is fetched from it.
const URL = "https://line-rate.github.io/line-rate/schema/compare-1.json"

// meanings.toml has a table for each type.
//
//go:embed meanings.toml
var meanings []byte

// JSON returns the JSON Schema of what --json prints, made from the Go type.
func JSON() []byte {
	s := strict.Schema(&compare.Outcome{}, "json")
	s.ID, s.Title = URL, "Line Rate comparison of servers, version 1"
	strict.DescribeAll(s, "Outcome", meanings)
	c := s.Definitions["Comparison"]
	c.Properties.Set("verdict", strict.OneOf(strict.Called(compare.Verdicts, func(v compare.Verdict) strict.Word {
		return strict.Word{Name: string(v), Meaning: v.Meaning()}
	})))
	c.Properties.Set("above", strict.OneOf([]strict.Word{{Name: compare.AboveYes, Meaning: "The whole interval is above."},
		{Name: compare.AboveNo, Meaning: "None of the interval is above."},
		{Name: compare.AboveOpen, Meaning: "The interval holds the bar, or there is none."}}))
	return strict.EncodeSchema(s)
}
