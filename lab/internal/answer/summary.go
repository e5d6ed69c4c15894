package answer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/line-rate/line-rate/lab/server/catalog"
)

// A summary has the conditions for an answer of /compute. The products drawn
// for it are unknown, so it can only be compared with the catalogue and with
// itself.
type summary struct {
	brands         map[string]bool
	cheapest, dear float64 // prices
	from           []float64
}

// summarySample is how many summaries are made to estimate their mean length:
// its error is then a fiftieth of their deviation.
const summarySample = 2000

// summaries is the set of answers of /compute.
func summaries(p *catalog.Pool) *Set {
	m := &summary{brands: map[string]bool{}, cheapest: math.Inf(1)}
	for i := range catalog.Size {
		it := p.Item(i)
		m.brands[it.Brand] = true
		price := float64(it.Price) / 100
		m.cheapest, m.dear = min(m.cheapest, price), max(m.dear, price)
	}
	for _, b := range catalog.Summarise(nil).Histogram {
		m.from = append(m.from, float64(b.From))
	}
	s := &Set{summary: m, estimate: true, round: catalog.WalkLen / catalog.Sample}
	s.draws = sync.OnceValue(func() []int { return sample(p) })
	least, most := m.bounds()
	s.least, s.lengths = least, slices.Repeat([]bool{true}, most-least+1)
	return s
}

// sample makes summaries and returns their lengths.
func sample(p *catalog.Pool) []int {
	var lengths []int
	rng := rand.New(rand.NewPCG(catalog.Seed, 0))
	items := make([]catalog.Item, catalog.Sample)
	for range summarySample {
		for i := range items {
			items[i] = p.Item(rng.IntN(catalog.Size))
		}
		body, err := json.Marshal(catalog.Summarise(items))
		if err != nil {
			panic(err) // numbers and strings always marshal
		}
		lengths = append(lengths, len(body))
	}
	return lengths
}

// bounds are limits for the length of any summary, from the shortest and the
// longest numbers and names.
func (m *summary) bounds() (least, most int) {
	shortest, longest := "", ""
	for b := range m.brands {
		text, _ := json.Marshal(b) // escaped characters count as written
		if shortest == "" || len(text) < len(shortest) {
			shortest = string(text)
		}
		if len(text) > len(longest) {
			longest = string(text)
		}
	}
	empty := catalog.Summarise(nil)
	empty.Count = catalog.Sample
	length := func(price float64, count int, brand string) int {
		a := empty
		a.Median, a.Average, a.Deviation = price, price, price
		a.Histogram = slices.Clone(a.Histogram)
		for i := range a.Histogram {
			a.Histogram[i].Count = count
		}
		a.TopBrands = nil
		for range topBrands {
			a.TopBrands = append(a.TopBrands, catalog.BrandCount{Count: count})
		}
		text, _ := json.Marshal(a)
		return len(text) + topBrands*(len(brand)-len(`""`))
	}
	return length(1, 1, shortest), length(999.99, catalog.Sample, longest)
}

// topBrands is how many brands a summary names. A hundred draws from forty
// brands never give fewer.
const topBrands = 5

// cent is how much rounding may change an amount of money.
const cent = 0.01

// check says what is wrong with a summary; nil if nothing is.
func (m *summary) check(body []byte) error {
	var a catalog.Aggregate
	if err := json.Unmarshal(body, &a); err != nil {
		return fmt.Errorf("a body that is no summary: %w", err)
	}
	if again, err := json.Marshal(a); err != nil || !bytes.Equal(again, body) {
		return errors.New("a body that is no summary as the server writes one")
	}
	if a.Count != catalog.Sample {
		return fmt.Errorf("a summary of %d products, the route's are of %d", a.Count, catalog.Sample)
	}
	if err := m.histogram(a); err != nil {
		return err
	}
	if most := (m.dear - m.cheapest) / 2; a.Deviation < 0 || a.Deviation > most+cent {
		return fmt.Errorf("a summary whose prices deviate by %.2f, the catalogue's by %.2f at the most", a.Deviation, most)
	}
	return m.top(a)
}

// histogram compares the counts with the number of products, and median and
// average with the counts.
func (m *summary) histogram(a catalog.Aggregate) error {
	if len(a.Histogram) != len(m.from) {
		return fmt.Errorf("a summary with a histogram of %d parts, the route's have %d", len(a.Histogram), len(m.from))
	}
	// The lowest and the highest price that each product can have, in ascending
	// order.
	var low, high []float64
	for i, b := range a.Histogram {
		if float64(b.From) != m.from[i] || b.Count < 0 || len(low)+b.Count > a.Count {
			return fmt.Errorf("a summary whose histogram cannot be: %v", a.Histogram)
		}
		end := m.dear
		if i+1 < len(m.from) {
			end = min(end, m.from[i+1])
		}
		low = append(low, slices.Repeat([]float64{max(m.from[i], m.cheapest)}, b.Count)...)
		high = append(high, slices.Repeat([]float64{end}, b.Count)...)
	}
	if len(low) != a.Count {
		return fmt.Errorf("a summary whose histogram counts %d products of %d", len(low), a.Count)
	}
	within := func(name string, v, low, high float64) error {
		if v < low-cent || v > high+cent {
			return fmt.Errorf("a summary whose %s price is %.2f, by its histogram it is from %.2f to %.2f", name, v, low, high)
		}
		return nil
	}
	middle := func(all []float64) float64 { return (all[(len(all)-1)/2] + all[len(all)/2]) / 2 }
	mean := func(all []float64) (sum float64) {
		for _, v := range all {
			sum += v
		}
		return sum / float64(len(all))
	}
	if err := within("median", a.Median, middle(low), middle(high)); err != nil {
		return err
	}
	return within("average", a.Average, mean(low), mean(high))
}

// top compares the brands with the catalogue, and their counts with the number
// of products.
func (m *summary) top(a catalog.Aggregate) error {
	if len(a.TopBrands) != topBrands {
		return fmt.Errorf("a summary with %d brands, the route's have %d", len(a.TopBrands), topBrands)
	}
	sum := 0
	for i, b := range a.TopBrands {
		if !m.brands[b.Brand] {
			return fmt.Errorf("a summary with a brand %.40q that the catalogue does not have", b.Brand)
		}
		if i > 0 {
			if last := a.TopBrands[i-1]; b.Count > last.Count || b.Count == last.Count &&
				strings.Compare(last.Brand, b.Brand) >= 0 {
				return errors.New("a summary whose brands are out of order")
			}
		}
		sum += b.Count
	}
	// None of the other brands has more than the last of these.
	others := (len(m.brands) - topBrands) * a.TopBrands[topBrands-1].Count
	if sum > a.Count || sum+others < a.Count {
		return fmt.Errorf("a summary whose brands cannot be those of %d products: %v", a.Count, a.TopBrands)
	}
	return nil
}
