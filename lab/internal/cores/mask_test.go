package cores

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
		{"0", 1, "1"},
		{"0-1", 2, "3"},
		{"4", 5, "10"},
		{"0-7", 8, "ff"},
		{"6-7", 8, "c0"},
		{"31", 32, "80000000"},
		{"0", 32, "00000001"},
		{"0", 33, "0,00000001"},
		{"32", 33, "1,00000000"},
		{"0-63", 64, "ffffffff,ffffffff"},
		{"64", 72, "01,00000000,00000000"},
		{"0-127", 128, "ffffffff,ffffffff,ffffffff,ffffffff"},
		{"112-127", 128, "ffff0000,00000000,00000000,00000000"},
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
}

// some draws a set of CPUs, often with long runs, as real lists have.
func some(r *rand.Rand, possible int) []int {
	var cpus []int
	in := r.IntN(2) == 0
	for c := range possible {
		if r.IntN(1+r.IntN(16)) == 0 {
			in = !in
		}
		if in {
			cpus = append(cpus, c)
		}
	}
	return cpus
}

// From a list to a mask and back, for every number of cores.
func TestAListBecomesAMaskAndTheListAgain(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 8))
	for possible := 1; possible <= 1024; possible++ {
		all := make([]int, possible)
		for c := range all {
			all[c] = c
		}
		for _, cpus := range [][]int{nil, all, {0}, {possible - 1}, some(r, possible), some(r, possible)} {
			mask, err := Mask(cpus, possible)
			if err != nil {
				t.Fatal(err)
			}
			number, ok := new(big.Int).SetString(strings.ReplaceAll(mask, ",", ""), 16)
			if !ok {
				t.Fatalf("%s of %d became %q", Format(cpus), possible, mask)
			}
			var back []int
			for bit := range number.BitLen() {
				if number.Bit(bit) == 1 {
					back = append(back, bit)
				}
			}
			if !slices.Equal(back, cpus) {
				t.Fatalf("%s of %d became %q and then %v", Format(cpus), possible, mask, back)
			}
			if len(cpus) == 0 {
				continue
			}
			listed, err := Parse(Format(back))
			if err != nil || !slices.Equal(listed, cpus) {
				t.Fatalf("%v of %d is listed as %v (%v)", cpus, possible, listed, err)
			}
		}
	}
}

func TestEveryMaskHasTheWidthOfItsMachine(t *testing.T) {
	for possible := 1; possible <= 1024; possible++ {
		mask, err := Mask(nil, possible)
		if err != nil {
			t.Fatal(err)
		}
		parts := strings.Split(mask, ",")
		for _, p := range parts[1:] {
			if len(p) != 8 {
				t.Fatalf("%d: %q", possible, mask)
			}
		}
		if bits := 4*len(parts[0]) + 32*(len(parts)-1); bits < possible || bits-possible > 3 {
			t.Fatalf("%d CPUs have a mask of %d bits: %q", possible, bits, mask)
		}
	}
}

func TestACPUThatCannotBeIsInNoMask(t *testing.T) {
	for _, c := range []struct{ cpu, possible int }{{1, 1}, {-1, 8}, {128, 128}, {0, 0}} {
		if got, err := Mask([]int{c.cpu}, c.possible); err == nil {
			t.Errorf("CPU %d of %d is written %q", c.cpu, c.possible, got)
		}
	}
}
