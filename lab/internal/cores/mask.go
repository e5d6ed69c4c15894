package cores

import (
	"fmt"
	"slices"
	"strings"
)

// Most is the largest number of CPUs that a kernel can be built for.
const Most = 8192

// group is the number of CPUs in a group of a mask's hex digits, and digits the number of
// its digits. Groups are separated by commas, the highest CPUs first.
const group, digits = 32, 8

// Mask writes the mask of some CPUs on a machine with that many possible ones,
// exactly as the kernel prints it back: all groups up to the last possible CPU,
// the first only as long as necessary.
func Mask(cpus []int, possible int) (string, error) {
	words := make([]uint32, (possible+group-1)/group)
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
