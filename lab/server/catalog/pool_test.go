package catalog

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/server/route"
)

func newPool(t testing.TB, seed uint64) *Pool {
	t.Helper()
	p, err := NewPool(seed)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func digest(bodies [][]byte) string {
	sum := sha256.New()
	for _, b := range bodies {
		fmt.Fprintf(sum, "%s\n", b)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// The bytes that every machine serves. If a change of gofakeit, of Go's encoding/json or
// of this package changes them, runs before and after are not comparable: that needs an
// entry that says so, not just a new constant.
func TestPoolBytes(t *testing.T) {
	const bodies = "231b99a54aa1d2db897b4e4f888546dd2caa971e763dac8cf01d5e264cb8a00b"
	p := newPool(t, Seed)
	p.Compressed(0)
	for _, c := range []struct{ what, got, want string }{
		{"bodies", digest(p.bodies), bodies},
		{"what the pool says of them", p.Digest(), bodies}, // which may leave out a body
		{"compressed bodies", digest(p.compressed), "9458e72b85057b4f8411614749559dd3f9043a4d80faa126305bb78c27015c33"},
		{"batches", digest(p.batches), "d3f50e8aeab40e20ad27ad661c4bba4fb1f4aabb08200844d73bb3f3a4efdf15"},
	} {
		if c.got != c.want {
			t.Errorf("%s: digest %s, want %s", c.what, c.got, c.want)
		}
	}
	if other := newPool(t, Seed+1); other.Digest() == p.Digest() {
		t.Error("pools of two seeds are the same")
	}
}

// Whichever product it is, an answer of /read takes two writes through a buffer of 4,096 bytes and one through
// 5,120, and one of /read-gz, which has the same product, fits into one. What /compute reads of a product is what
// its body says.
func TestProducts(t *testing.T) {
	p := newPool(t, Seed)
	read, _ := RouteOf("/read")
	gz, _ := RouteOf("/read-gz")
	brands := make(map[string]bool)
	total := 0
	for i, body := range p.bodies {
		total += len(body)
		if n := read.Head(len(body)) + len(body); n <= 4096 || n > 5120 {
			t.Errorf("response of product %d has %d bytes; want two writes at 4096 and one at 5120", i, n)
		}
		small := p.Compressed(i)
		if n := gz.Head(len(small)) + len(small); n > 4096 || &small[0] != &p.Compressed(i)[0] {
			t.Errorf("response of product %d has %d bytes, or is compressed for each request", i, n)
		}
		var plain []byte
		z, err := gzip.NewReader(bytes.NewReader(small))
		if err == nil {
			plain, err = io.ReadAll(z)
		}
		if err != nil || !bytes.Equal(plain, body) {
			t.Fatalf("product %d, compressed: %v: %.80q", i, err, plain)
		}
		var got struct {
			Brand string
			Price float64
		}
		err = json.Unmarshal(body, &got)
		if is := (Item{Cents(math.Round(got.Price * 100)), got.Brand}); err != nil || p.Item(i) != is {
			t.Errorf("product %d: %v, %+v is another's: %s", i, err, p.Item(i), body)
		}
		brands[got.Brand] = true
	}
	mean := total / Size
	if len(p.bodies) != Size || len(brands) != brandCount || mean < 4400 || mean > 4700 {
		t.Errorf("%d bodies of %d brands, with %d bytes in the mean", len(p.bodies), len(brands), mean)
	}
	// Lengths differ by a few hundred bytes; one of 500 is near the mean.
	if off := len(read.Middle(p)) - mean; off < -10 || off > 10 {
		t.Errorf("the middle body is %d bytes off the mean", off)
	}
}

func TestBatches(t *testing.T) {
	p := newPool(t, Seed)
	known := make(map[string]bool, Size)
	for _, b := range p.bodies {
		known[string(b)] = true
	}
	seen := make(map[string]bool)
	for i := range Batches {
		batch := p.Batch(i)
		var got struct {
			Count    int
			Products []json.RawMessage
		}
		err := json.Unmarshal(batch, &got)
		if err != nil || got.Count != len(got.Products) || got.Count < 20 || got.Count > 30 {
			t.Errorf("batch %d says %d products and has %d, want 20 to 30: %v", i, got.Count, len(got.Products), err)
		}
		for j, raw := range got.Products {
			if !known[string(raw)] {
				t.Errorf("batch %d, product %d is not in the pool", i, j)
			}
		}
		if !bytes.Equal(batch, p.Batch(i+Batches)) {
			t.Errorf("batch %d does not come round after %d", i, Batches)
		}
		seen[string(batch)] = true
	}
	if len(seen) != Batches {
		t.Errorf("%d different batches, want %d", len(seen), Batches)
	}
}

// A row says one thing: an answer is fixed, drawn or computed.
func TestRoutes(t *testing.T) {
	var paths []string
	for _, r := range Routes() {
		paths = append(paths, r.Path)
		ways := 0
		for _, has := range []bool{r.Fixed != nil, r.Body != nil, r.Make != nil} {
			if has {
				ways++
			}
		}
		if ways != 1 || (r.Body != nil) != (r.Count > 0) || r.Null && r.Make != nil || r.About == "" ||
			!strings.HasPrefix(r.Path, "/") {
			t.Errorf("%+v", r)
		}
		if r.Body != nil && Size%r.Count != 0 {
			t.Errorf("%s: %d bodies do not divide %d products: some would be served more often", r.Path, r.Count, Size)
		}
		if again, ok := RouteOf(r.Path); !ok || again.About != r.About {
			t.Errorf("%s is not found", r.Path)
		}
	}
	if _, ok := RouteOf("/nothing"); ok {
		t.Error("a route that is not there is found")
	}
	if null := route.Paths(true); !slices.Equal(paths, route.Paths(false)) ||
		!slices.Contains(null, "/simple") || slices.Contains(null, "/list") {
		t.Errorf("%v, %v", paths, null)
	}
}
