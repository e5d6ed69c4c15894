package machine

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestAMaskIsWhatTheKernelPrints(t *testing.T) {
	for _, c := range []struct {
		list     string
		possible int
		want     string
	}{
		{"0", 1, "1"}, {"4", 5, "10"}, {"6-7", 8, "c0"}, {"0", 32, "00000001"}, {"0", 33, "0,00000001"}, {"32", 33, "1,00000000"},
		{"64", 72, "01,00000000,00000000"}, {"112-127", 128, "ffff0000,00000000,00000000,00000000"},
		{"0-111", 128, "0000ffff,ffffffff,ffffffff,ffffffff"},
	} {
		cpus, err := Parse(c.list)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Mask(cpus, c.possible); err != nil || got != c.want {
			t.Errorf("%s of %d: %q, %v; want %q", c.list, c.possible, got, err, c.want)
		}
	}
	if got, err := Mask(nil, 40); err != nil || got != "00,00000000" {
		t.Errorf("no CPU: %q, %v", got, err)
	}
	for _, c := range []struct{ cpu, possible int }{{1, 1}, {-1, 8}, {128, 128}, {0, 0}} {
		if got, err := Mask([]int{c.cpu}, c.possible); err == nil {
			t.Errorf("CPU %d of %d is written %q", c.cpu, c.possible, got)
		}
	}
}

// From a list to a mask and to text, and back, for every number of cores.
func TestAListBecomesAMaskAndTheListAgain(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 8))
	for possible := 1; possible <= 1024; possible++ {
		cpus := []int{possible - 1}
		for c := range possible - 1 {
			if r.IntN(2) == 0 {
				cpus = append(cpus, c)
			}
		}
		slices.Sort(cpus)
		mask, err := Mask(cpus, possible)
		number, ok := new(big.Int).SetString(strings.ReplaceAll(mask, ",", ""), 16)
		if err != nil || !ok {
			t.Fatalf("%s of %d became %q, %v", Format(cpus), possible, mask, err)
		}
		var back []int
		for bit := range number.BitLen() {
			if number.Bit(bit) == 1 {
				back = append(back, bit)
			}
		}
		if listed, err := Parse(Format(cpus)); err != nil || !slices.Equal(back, cpus) || !slices.Equal(listed, cpus) {
			t.Fatalf("%s of %d became %q and then %v, and is listed as %v (%v)", Format(cpus), possible, mask, back, listed, err)
		}
	}
}
