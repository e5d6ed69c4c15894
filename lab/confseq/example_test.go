package confseq_test

import (
	"fmt"

	"github.com/line-rate/line-rate/lab/confseq"
)

// Nine blocks of two builds, side by side. One looks after each, and stops as soon as it is shown
// that the median block's ratio is above one.
func ExampleShown() {
	above := 0
	for i, ratio := range []float64{1.08, 1.11, 1.07, 1.02, 1.09, 1.10, 1.08, 1.05, 1.12} {
		if ratio > 1 {
			above++
		}
		if n := i + 1; confseq.Shown(above, n, 0.05) {
			fmt.Printf("shown after %d blocks\n", n)
			break
		}
	}
	// Output: shown after 6 blocks
}

// The third block's figures are ranges.
func ExampleMedian() {
	least := []float64{1.08, 1.11, 1.05, 1.02, 1.09, 1.10, 1.08, 1.07}
	most := []float64{1.08, 1.11, 1.09, 1.02, 1.09, 1.10, 1.08, 1.07}
	low, high, ok := confseq.Median(least, most, 0.05)
	fmt.Println(low, high, ok)
	// Output: 1.02 1.11 true
}

// Seven of ten say yes so far. If it stays so, how many answers does it take?
func ExampleNeeded() {
	fmt.Println(confseq.Needed(7, 10, 0.05))
	fmt.Println(confseq.Needed(5, 10, 0.05))
	// Output:
	// 55 true
	// 0 false
}

// A claim with two edges is refuted if the ratio is beyond either: the mean of the two bets
// is a bet itself.
func ExampleLogMean() {
	below, above := confseq.LogE(0, 8), confseq.LogE(8, 8)
	fmt.Printf("%.1f\n", confseq.LogMean(below, above))
	// Output: 4.2
}
