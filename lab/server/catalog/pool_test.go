package catalog

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/server/route"
)

// The bytes that every machine serves. If a change of gofakeit, of Go's encoding/json or
// of this package changes them, runs before and after are not comparable: that needs an
// entry that says so, not just a new constant.
const (
	wantDigest           = "231b99a54aa1d2db897b4e4f888546dd2caa971e763dac8cf01d5e264cb8a00b"
	wantCompressedDigest = "9458e72b85057b4f8411614749559dd3f9043a4d80faa126305bb78c27015c33"
	wantBatchesDigest    = "d3f50e8aeab40e20ad27ad661c4bba4fb1f4aabb08200844d73bb3f3a4efdf15"
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

func TestPoolBytes(t *testing.T) {
	p, again := newPool(t, Seed), newPool(t, Seed)

	// p.Digest alone is not enough: a digest that left out a body would be just as
	// stable.
	if got := digest(p.bodies); got != wantDigest {
		t.Errorf("bodies have digest %s, want %s", got, wantDigest)
	}
	if p.Digest() != wantDigest {
		t.Errorf("Digest() = %s, want %s", p.Digest(), wantDigest)
	}
	if got := digest(p.batches); got != wantBatchesDigest {
		t.Errorf("batches have digest %s, want %s", got, wantBatchesDigest)
	}
	if again.Digest() != p.Digest() || digest(again.batches) != digest(p.batches) {
		t.Error("two pools of one seed differ")
	}
	if other := newPool(t, Seed+1); other.Digest() == p.Digest() {
		t.Error("pools of two seeds are the same")
	}
}

func TestPoolSizes(t *testing.T) {
	p := newPool(t, Seed)
	if len(p.bodies) != Size || len(p.items) != Size || len(p.batches) != Batches {
		t.Fatalf("%d bodies, %d items, %d batches; want %d, %d, %d",
			len(p.bodies), len(p.items), len(p.batches), Size, Size, Batches)
	}
	if Size%Batches != 0 {
		t.Errorf("%d batches do not divide %d products: some lists would be served more often", Batches, Size)
	}
	mean := len(bytes.Join(p.bodies, nil)) / Size
	if mean < 4400 || mean > 4700 {
		t.Errorf("mean body is %d bytes, want 4400 to 4700", mean)
	}
	// Lengths differ by a few hundred bytes; one of 500 is near the mean.
	read, _ := RouteOf("/read")
	if off := len(read.Middle(p)) - mean; off < -10 || off > 10 {
		t.Errorf("the middle body is %d bytes off the mean", off)
	}

	// Fiber's header before a body of 1000 to 9999 bytes: status line 17, date 37,
	// content type 32, content length 22, empty line 2.
	const header = 17 + 37 + 32 + 22 + 2
	for i, b := range p.bodies {
		if n := len(b) + header; n <= 4096 || n > 5120 {
			t.Errorf("response of product %d has %d bytes; want two writes at 4096 and one at 5120", i, n)
		}
	}
}

// What /compute reads of a product is what its body says. The bodies themselves are pinned by their digest.
func TestItemsAreTheProducts(t *testing.T) {
	p := newPool(t, Seed)
	brands := make(map[string]bool)
	for i, body := range p.bodies {
		var got struct {
			Brand string
			Price float64
		}
		if err := json.Unmarshal(body, &got); err != nil || p.Item(i).Brand != got.Brand || p.Item(i).Price.Float() != got.Price {
			t.Errorf("product %d: %v, %+v is another's: %s", i, err, p.Item(i), body)
		}
		brands[got.Brand] = true
	}
	if len(brands) != brandCount {
		t.Errorf("%d brands, want %d", len(brands), brandCount)
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
		if err := json.Unmarshal(batch, &got); err != nil {
			t.Fatalf("batch %d: %v", i, err)
		}
		if got.Count != len(got.Products) || got.Count < 20 || got.Count > 30 {
			t.Errorf("batch %d says %d products and has %d, want 20 to 30", i, got.Count, len(got.Products))
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

func TestCents(t *testing.T) {
	for c, want := range map[Cents]string{0: "0.00", 5: "0.05", 199: "1.99", 1230: "12.30", 99_999: "999.99"} {
		got, err := json.Marshal(c)
		if err != nil || string(got) != want {
			t.Errorf("Cents(%d) is %s (%v), want %s", c, got, err, want)
		}
	}
}

// The compressed bodies are the products again, in the same order, and each is compressed
// once. Every response fits into one write, head included.
func TestCompressed(t *testing.T) {
	p := newPool(t, Seed)
	for i, body := range p.bodies {
		z, err := gzip.NewReader(bytes.NewReader(p.Compressed(i)))
		if err != nil {
			t.Fatal(err)
		}
		if plain, err := io.ReadAll(z); err != nil || !bytes.Equal(plain, body) {
			t.Fatalf("product %d: %v: %.80q", i, err, plain)
		}
		if &p.Compressed(i)[0] != &p.Compressed(i)[0] {
			t.Fatal("a body was compressed twice")
		}
		if r, _ := RouteOf("/read-gz"); len(p.Compressed(i))+r.Head(len(p.Compressed(i))) > 4096 {
			t.Errorf("response of product %d does not fit into 4,096 bytes", i)
		}
	}
	if got := digest(p.compressed); got != wantCompressedDigest {
		t.Errorf("compressed bodies have digest %s, want %s", got, wantCompressedDigest)
	}
}

// A row says one thing: an answer is fixed, drawn or computed.
func TestRoutes(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Routes() {
		ways := 0
		for _, has := range []bool{r.Fixed != nil, r.Body != nil, r.Make != nil} {
			if has {
				ways++
			}
		}
		if ways != 1 || (r.Body != nil) != (r.Count > 0) || r.Null && r.Make != nil || r.About == "" ||
			!strings.HasPrefix(r.Path, "/") || seen[r.Path] {
			t.Errorf("%+v", r)
		}
		if r.Body != nil && Size%r.Count != 0 {
			t.Errorf("%s: %d bodies do not divide %d products: some would be served more often", r.Path, r.Count, Size)
		}
		seen[r.Path] = true
		if again, ok := RouteOf(r.Path); !ok || again.Path != r.Path {
			t.Errorf("%s is not found", r.Path)
		}
	}
	if _, ok := RouteOf("/nothing"); ok {
		t.Error("a route that is not there is found")
	}
	if all, null := route.Paths(false), route.Paths(true); len(all) != len(seen) || !slices.Contains(null, "/simple") ||
		slices.Contains(null, "/list") {
		t.Errorf("%v, %v", all, null)
	}
}
