package cores

import (
	"fmt"
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
			back, err := ParseMask(mask, possible)
			if err != nil || !slices.Equal(back, cpus) {
				t.Fatalf("%s of %d became %q and then %v (%v)", Format(cpus), possible, mask, back, err)
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

// From a mask to a list and back: a mask of full width stays as it is.
func TestAMaskBecomesAListAndTheMaskAgain(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 11))
	for possible := 1; possible <= 1024; possible++ {
		// Bits are drawn here digit by digit, independently of Mask.
		var b strings.Builder
		for bit := (possible + 3) / 4 * 4; bit > 0; bit -= 4 {
			if bit%32 == 0 && b.Len() > 0 {
				b.WriteByte(',')
			}
			digit := r.IntN(16)
			if bit > possible {
				digit &= 1<<(4-(bit-possible)) - 1
			}
			fmt.Fprintf(&b, "%x", digit)
		}
		cpus, err := ParseMask(b.String(), possible)
		if err != nil {
			t.Fatalf("%q of %d: %v", b.String(), possible, err)
		}
		if again, err := Mask(cpus, possible); err != nil || again != b.String() {
			t.Fatalf("%q of %d became %v and then %q (%v)", b.String(), possible, cpus, again, err)
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

func TestLeadingGroupsMayBeMissing(t *testing.T) {
	for _, c := range []struct {
		mask     string
		possible int
		want     string
	}{{"3", 128, "0-1"}, {"F0", 8, "4-7"}, {"00000003", 2, "0-1"}, {"1,00000000", 128, "32"}} {
		cpus, err := ParseMask(c.mask, c.possible)
		if err != nil || Format(cpus) != c.want {
			t.Errorf("%q of %d: %v, %v; want %s", c.mask, c.possible, cpus, err, c.want)
		}
	}
}

func TestWhatIsNoMaskIsRefused(t *testing.T) {
	for _, c := range []struct {
		mask     string
		possible int
		why      string
	}{
		{"", 8, "1 to 8 digits"},
		{",", 64, "1 to 8 digits"},
		{"1,", 64, "1 to 8 digits"},
		{strings.Repeat("f", 32), 128, "1 to 8 digits"},
		{"ffffffff,ffff", 64, "all but the first"},
		{"1,0000000,00000000", 128, "all but the first"},
		{"ffffffff,ffffffff,ffffffff,ffffffff,ffffffff", 128, "4 at most fit"},
		{"00000000,00000001", 32, "1 at most fit"},
		{"4", 2, "names CPU 2"},
		{"1,00000000", 32, "1 at most fit"},
		{"100", 8, "names CPU 8"},
		{"0x3", 8, "not hexadecimal"},
		{"+3", 8, "not hexadecimal"},
		{"g", 8, "not hexadecimal"},
		{"3\n", 8, "not hexadecimal"},
		{" 3", 8, "not hexadecimal"},
		{"1_0", 8, "not hexadecimal"},
		{"1", 0, "0 CPUs"},
		{"1", Most + 1, "CPUs are none"},
	} {
		got, err := ParseMask(c.mask, c.possible)
		if err == nil || !strings.Contains(err.Error(), c.why) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q of %d: %v, %v; want a line that says %q", c.mask, c.possible, got, err, c.why)
		}
	}
	for _, c := range []struct{ cpu, possible int }{{1, 1}, {-1, 8}, {128, 128}, {0, 0}} {
		if got, err := Mask([]int{c.cpu}, c.possible); err == nil {
			t.Errorf("CPU %d of %d is written %q", c.cpu, c.possible, got)
		}
	}
}

// Every accepted mask names possible CPUs in ascending order, and writing them
// again gives the same mask.
func FuzzParseMask(f *testing.F) {
	for _, seed := range []string{"", "0", "3", "ff", "ffff0000,00000000,00000000,00000000", "1,0", ",", "x"} {
		f.Add(seed, 128)
	}
	f.Fuzz(func(t *testing.T, mask string, possible int) {
		cpus, err := ParseMask(mask, possible)
		if err != nil {
			return
		}
		if !slices.IsSorted(cpus) || len(slices.Compact(slices.Clone(cpus))) != len(cpus) {
			t.Fatalf("%q: %v", mask, cpus)
		}
		full, err := Mask(cpus, possible)
		if err != nil {
			t.Fatalf("%q of %d was read as %v: %v", mask, possible, cpus, err)
		}
		number := func(m string) string { return strings.TrimLeft(strings.ToLower(strings.ReplaceAll(m, ",", "")), "0") }
		if number(full) != number(mask) {
			t.Fatalf("%q of %d is written %q", mask, possible, full)
		}
	})
}
