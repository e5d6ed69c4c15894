package catalog

import "strconv"

// Cents is an amount of money. Prices are whole cents because the last bit of a drawn
// float64 may differ between architectures: a compiler may fuse a multiply and an add.
// One bit is enough to change the pool's digest.
type Cents int64

// MarshalJSON writes the price as a JSON number with two decimals. The pool uses it, and
// serialises once; the aggregate of each request uses plain floats, which encoding/json
// writes faster.
func (c Cents) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(c)/100, 'f', 2, 64), nil
}

// A Product is one item as /read serves it.
type Product struct {
	ID          string     `json:"id"`
	Name        string     `json:"name"`
	Brand       string     `json:"brand"`
	Category    string     `json:"category"`
	Price       Cents      `json:"price"`
	Rating      float64    `json:"rating"`
	ReviewCount int        `json:"review_count"`
	Description string     `json:"description"`
	Tags        []string   `json:"tags"`
	Attributes  Attributes `json:"attributes"`
	Images      []string   `json:"images"`
}

// Attributes are the seven attributes of a product. They are a struct and not a map, so
// that the source shows the order of the fields.
type Attributes struct {
	Color          string `json:"color"`
	Material       string `json:"material"`
	Origin         string `json:"origin"`
	Model          string `json:"model"`
	DimensionsMM   string `json:"dimensions_mm"`
	WeightGrams    int    `json:"weight_grams"`
	WarrantyMonths int    `json:"warranty_months"`
}
