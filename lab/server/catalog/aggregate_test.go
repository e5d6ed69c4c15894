package catalog

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
)

// eight has mean 500 and population deviation 200: the distances from the mean are 300, 100, 100, 100, 0, 0,
// 200 and 400, and their squares sum to 320,000, an eighth of which is 40,000. The deviation of a sample would
// be 213.81. Its median is between the fourth, 400, and the fifth, 500.
var eight = []Item{
	{900_00, "Ash"}, {200_00, "Elm"}, {400_00, "Ash"}, {700_00, "Fir"},
	{500_00, "Oak"}, {400_00, "Ash"}, {500_00, "Elm"}, {400_00, "Yew"},
}

func TestSummarise(t *testing.T) {
	for _, c := range []struct {
		items []Item
		want  string // median, average, deviation, counts of the buckets, brands
	}{
		{nil, "0 0 0 [0 0 0 0 0] []"},
		{eight, "450 500 200 [0 1 5 1 1] [{Ash 3} {Elm 2} {Fir 1} {Oak 1} {Yew 1}]"},
		{[]Item{{1_99, "Ash"}}, "1.99 1.99 0 [1 0 0 0 0] [{Ash 1}]"},
		{[]Item{{3_00, "a"}, {1_00, "a"}, {2_00, "a"}}, "2 2 0.82 [3 0 0 0 0] [{a 3}]"}, // √(2/3)
		{[]Item{{199_99, "a"}, {200_00, "a"}}, "200 200 0.01 [1 1 0 0 0] [{a 2}]"},      // 199.995 rounds up
		{[]Item{{5000_00, "a"}}, "5000 5000 0 [0 0 0 0 1] [{a 1}]"},                     // beyond the last bucket
		{[]Item{{1, "g"}, {1, "f"}, {1, "e"}, {1, "d"}, {1, "c"}, {1, "b"}, {1, "a"}, {1, "g"}}, // more than five
			"0.01 0.01 0 [8 0 0 0 0] [{g 2} {a 1} {b 1} {c 1} {d 1}]"},
	} {
		for range 2 {
			a := Summarise(slices.Clone(c.items))
			var counts []int
			for _, b := range a.Histogram {
				counts = append(counts, b.Count)
			}
			got := fmt.Sprintf("%v %v %v %v %v", a.Median, a.Average, a.Deviation, counts, a.TopBrands)
			if got != c.want || a.Count != len(c.items) {
				t.Errorf("%v: %d of %s, want %s", c.items, a.Count, got, c.want)
			}
			slices.Reverse(c.items) // the order does not count
		}
	}
}

func TestAggregateSerialised(t *testing.T) {
	for want, items := range map[string][]Item{
		`{"count":8,"median_price":450,"average_price":500,"price_standard_deviation":200,` +
			`"histogram":[{"from":0,"count":0},{"from":200,"count":1},{"from":400,"count":5},{"from":600,"count":1},` +
			`{"from":800,"count":1}],"top_brands":[{"brand":"Ash","count":3},{"brand":"Elm","count":2},` +
			`{"brand":"Fir","count":1},{"brand":"Oak","count":1},{"brand":"Yew","count":1}]}`: eight,
		`{"count":0,"median_price":0,"average_price":0,"price_standard_deviation":0,` +
			`"histogram":[{"from":0,"count":0},{"from":200,"count":0},{"from":400,"count":0},{"from":600,"count":0},` +
			`{"from":800,"count":0}],"top_brands":[]}`: nil,
	} {
		if got, err := json.Marshal(Summarise(slices.Clone(items))); err != nil || string(got) != want {
			t.Errorf("got %s (%v)\nwant %s", got, err, want)
		}
	}
}
