package cores

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Most is the largest number of CPUs that a kernel can be built for.
const Most = 8192

// A mask is hex digits in groups of 32 bits, separated by commas, the highest
// CPUs first: group is the number of CPUs in a group, and digits the number of
// its digits.
const group, digits = 32, 8

// Mask writes the mask of some CPUs on a machine with that many possible ones,
// exactly as the kernel prints it back: all groups up to the last possible CPU,
// the first only as long as necessary.
func Mask(cpus []int, possible int) (string, error) {
	if err := check(possible); err != nil {
		return "", err
	}
	words := make([]uint32, groups(possible))
	for _, c := range cpus {
		if c < 0 || c >= possible {
			return "", fmt.Errorf("there is no CPU %d: the last possible one is %d", c, possible-1)
		}
		words[c/group] |= 1 << (c % group)
	}
	width := (possible-1)%group/4 + 1
	var parts []string
	for _, w := range slices.Backward(words) {
		parts = append(parts, fmt.Sprintf("%0*x", width, w))
		width = digits
	}
	return strings.Join(parts, ","), nil
}

// ParseMask reads a mask on a machine with that many possible CPUs and returns
// the CPUs in ascending order. Leading groups may be missing and are zero then.
// It is as strict as the kernel, which takes one number of 32 digits for an
// overflow. It also demands all eight digits in each group after the first,
// because a shorter group is more often a slip than intended.
func ParseMask(mask string, possible int) ([]int, error) {
	if err := check(possible); err != nil {
		return nil, err
	}
	parts := strings.Split(mask, ",")
	if len(parts) > groups(possible) {
		return nil, fmt.Errorf("%q is not a mask of %d CPUs: it has %d groups, and %d at most fit", mask, possible,
			len(parts), groups(possible))
	}
	var cpus []int
	for i, part := range slices.Backward(parts) {
		switch {
		case part == "" || len(part) > digits:
			return nil, fmt.Errorf("%q is not a mask of CPUs: a group has 1 to %d digits, and %q has %d", mask, digits, part,
				len(part))
		case i > 0 && len(part) < digits:
			return nil, fmt.Errorf("%q is not a mask of CPUs: group %q has %d digits; all but the first have %d", mask, part,
				len(part), digits)
		}
		// Base 16 takes digits only; with base 0 ParseUint would take a prefix or
		// underscores.
		w, err := strconv.ParseUint(part, 16, group)
		if err != nil {
			return nil, fmt.Errorf("%q is not a mask of CPUs: %q is not hexadecimal", mask, part)
		}
		base := (len(parts) - 1 - i) * group
		for b := range group {
			if w&(1<<b) == 0 {
				continue
			}
			if base+b >= possible {
				return nil, fmt.Errorf("%q names CPU %d: the last possible one is %d", mask, base+b, possible-1)
			}
			cpus = append(cpus, base+b)
		}
	}
	return cpus, nil
}

func check(possible int) error {
	if possible < 1 || possible > Most {
		return fmt.Errorf("%d CPUs are none of a machine: 1 to %d are", possible, Most)
	}
	return nil
}

func groups(possible int) int { return (possible + group - 1) / group }
