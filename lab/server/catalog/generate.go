package catalog

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/brianvoe/gofakeit/v7"
)

// Seed is the seed of all data that the server serves.
const Seed = 20260515

// Each kind of data has its own random stream, so that a change to one kind does not change the
// bytes of the others.
const (
	streamProducts = iota + 1
	streamBatches
	streamWalk
)

// Descriptions have one shape, so that their length varies little between products. A
// body then takes two writes through a buffer of 4,096 bytes and one through 5,120 bytes,
// whichever product it is. These counts put the mean body near the 4,522 bytes of entry
// 02.
const (
	paragraphs       = 5
	sentencesPerPara = 8
	wordsPerSentence = 13
)

// What products share. Five hundred products share forty brands, so that a hundred of
// them have brands worth ranking. They share a stock of sentences, because drawing words
// for each took 40 ms, most of every worker's start; no figure depends on the sentences
// being different.
const (
	brandCount    = 40
	sentenceCount = 512
)

// generate draws n products. With the walk as index source, nothing else calls gofakeit.
func generate(seed uint64, n int) []Product {
	// A faker without a lock: New would draw the same values, but lock a mutex that
	// nothing else uses.
	f := gofakeit.NewFaker(rand.NewPCG(seed, streamProducts), false)
	brands := drawDistinct(brandCount, f.Company)
	sentences := drawDistinct(sentenceCount, func() string { return f.LoremIpsumSentence(wordsPerSentence) })
	products := make([]Product, n)
	for i := range products {
		products[i] = drawProduct(f, brands, sentences)
	}
	return products
}

func drawDistinct(n int, draw func() string) []string {
	seen := make(map[string]bool, n)
	all := make([]string, 0, n)
	for len(all) < n {
		if s := draw(); !seen[s] {
			seen[s] = true
			all = append(all, s)
		}
	}
	return all
}

func drawDescription(f *gofakeit.Faker, sentences []string) string {
	all := make([]string, paragraphs)
	for p := range all {
		drawn := make([]string, sentencesPerPara)
		for s := range drawn {
			drawn[s] = sentences[f.Number(0, len(sentences)-1)]
		}
		all[p] = strings.Join(drawn, " ")
	}
	return strings.Join(all, "\n\n")
}

func drawProduct(f *gofakeit.Faker, brands, sentences []string) Product {
	p := Product{
		ID:          f.UUID(),
		Name:        f.ProductName(),
		Brand:       brands[f.Number(0, len(brands)-1)],
		Category:    f.ProductCategory(),
		Price:       Cents(f.Number(199, 99_999)),
		Rating:      float64(f.Number(10, 50)) / 10,
		ReviewCount: f.Number(0, 5_000),
		Description: drawDescription(f, sentences),
		Tags:        make([]string, f.Number(5, 15)),
		Attributes: Attributes{
			Color:          f.Color(),
			Material:       f.ProductMaterial(),
			Origin:         f.Country(),
			Model:          fmt.Sprintf("LINERATE-%06d", f.Number(0, 999_999)),
			DimensionsMM:   fmt.Sprintf("%dx%dx%d", f.Number(10, 900), f.Number(10, 900), f.Number(10, 900)),
			WeightGrams:    f.Number(20, 20_000),
			WarrantyMonths: 12 * f.Number(0, 5),
		},
		Images: make([]string, f.Number(3, 8)),
	}
	for i := range p.Tags {
		p.Tags[i] = f.Noun()
	}
	for i := range p.Images {
		// RFC 2606 reserves example.com for documentation, so no response names a real host.
		p.Images[i] = fmt.Sprintf("https://images.example.com/products/%s/%d-1200x1200.webp", p.ID, i+1)
	}
	return p
}
