package catalog

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
)

// eight returns eight prices with mean 500 and population deviation 200: the distances
// from the mean are 300, 100, 100, 100, 0, 0, 200 and 400, and their squares sum to
// 320,000, an eighth of which is 40,000. The deviation of a sample would be 213.81.
func eight() []Item {
	return []Item{
		{900_00, "Ash"}, {200_00, "Elm"}, {400_00, "Ash"}, {700_00, "Fir"},
		{500_00, "Oak"}, {400_00, "Ash"}, {500_00, "Elm"}, {400_00, "Yew"},
	}
}

func TestSummarise(t *testing.T) {
	want := Aggregate{
		Count:     8,
		Median:    450, // between the fourth, 400, and the fifth, 500
		Average:   500,
		Deviation: 200,
		Histogram: []Bucket{{0, 0}, {200, 1}, {400, 5}, {600, 1}, {800, 1}},
		TopBrands: []BrandCount{{"Ash", 3}, {"Elm", 2}, {"Fir", 1}, {"Oak", 1}, {"Yew", 1}},
	}
	items := eight()
	if got := Summarise(items); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if !slices.IsSortedFunc(items, func(a, b Item) int { return int(a.Price - b.Price) }) {
		t.Errorf("items are not sorted by price: %v", items)
	}
	slices.Reverse(items)
	if got := Summarise(items); !reflect.DeepEqual(got, want) {
		t.Errorf("reversed: got %+v\nwant %+v", got, want)
	}
}

func TestSummariseEdges(t *testing.T) {
	for _, tt := range []struct {
		name                       string
		items                      []Item
		median, average, deviation float64
		buckets                    []int
	}{
		{"none", nil, 0, 0, 0, []int{0, 0, 0, 0, 0}},
		{"one", []Item{{1_99, "Ash"}}, 1.99, 1.99, 0, []int{1, 0, 0, 0, 0}},
		{"odd", []Item{{3_00, "a"}, {1_00, "a"}, {2_00, "a"}}, 2, 2, 0.82, []int{3, 0, 0, 0, 0}}, // √(2/3)
		{"edges", []Item{{199_99, "a"}, {200_00, "a"}}, 200, 200, 0.01, []int{1, 1, 0, 0, 0}},    // 199.995 rounds up
		{"beyond the last bucket", []Item{{5000_00, "a"}}, 5000, 5000, 0, []int{0, 0, 0, 0, 1}},
	} {
		got := Summarise(tt.items)
		if got.Median != tt.median || got.Average != tt.average || got.Deviation != tt.deviation {
			t.Errorf("%s: median %v, average %v, deviation %v; want %v, %v, %v", tt.name,
				got.Median, got.Average, got.Deviation, tt.median, tt.average, tt.deviation)
		}
		for i, b := range got.Histogram {
			if b.Count != tt.buckets[i] {
				t.Errorf("%s: histogram %v, want counts %v", tt.name, got.Histogram, tt.buckets)
				break
			}
		}
		if got.TopBrands == nil {
			t.Errorf("%s: top brands would serialise as null", tt.name)
		}
	}
}

func TestTopBrandsAreFive(t *testing.T) {
	var items []Item
	for _, b := range []string{"g", "f", "e", "d", "c", "b", "a"} {
		items = append(items, Item{1, b})
	}
	items = append(items, Item{1, "g"})
	want := []BrandCount{{"g", 2}, {"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}}
	if got := Summarise(items).TopBrands; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestAggregateSerialised(t *testing.T) {
	const want = `{"count":8,"median_price":450,"average_price":500,"price_standard_deviation":200,` +
		`"histogram":[{"from":0,"count":0},{"from":200,"count":1},{"from":400,"count":5},{"from":600,"count":1},{"from":800,"count":1}],` +
		`"top_brands":[{"brand":"Ash","count":3},{"brand":"Elm","count":2},{"brand":"Fir","count":1},{"brand":"Oak","count":1},{"brand":"Yew","count":1}]}`
	got, err := json.Marshal(Summarise(eight()))
	if err != nil || string(got) != want {
		t.Errorf("got %s (%v)\nwant %s", got, err, want)
	}
}

func BenchmarkSummarise(b *testing.B) {
	pool := newPool(b, Seed)
	items := make([]Item, Sample)
	for b.Loop() {
		for i := range items {
			items[i] = pool.Item(i)
		}
		Summarise(items)
	}
}
