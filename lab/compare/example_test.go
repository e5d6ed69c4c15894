package compare_test

import (
	"fmt"
	"log"

	"github.com/line-rate/line-rate/lab/compare"
)

// Eight blocks measured both builds at nearly the same time. The new one costs a tenth more.
func ExampleBlocks() {
	var blocks [][]compare.Figures
	for _, noise := range []float64{1, 1.31, 0.99, 1.02, 1.64, 1.01, 1, 0.98} { // of the machine, which both have
		blocks = append(blocks, []compare.Figures{
			{CPUPerRequest: 10e-6 * noise, Throughput: 100_000 / noise},
			{CPUPerRequest: 11e-6 * noise, Throughput: 91_000 / noise},
		})
	}
	o, err := compare.Blocks([]string{"old", "new"}, 0.03, blocks)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(o.Comparisons[0].Verdict)
	for _, line := range o.Says {
		fmt.Println(line)
	}
	fmt.Println("throughput", o.Comparisons[0].Throughput)
	// Output:
	// dearer
	// new costs 10.0 % more CPU a request than old (10.0 to 10.0 %)
	// throughput × 0.910 (0.910 to 0.910)
}

// After three blocks nothing is decided, however far the ratio is from one.
func ExampleRatio_Judge() {
	ratios := []float64{1.21, 1.19, 1.22}
	fmt.Println(compare.Over(ratios, ratios, 0.05).Judge(0.03))
	ratios = append(ratios, 1.2, 1.18, 1.25, 1.21)
	r := compare.Over(ratios, ratios, 0.05)
	fmt.Println(r.Judge(0.03), r)
	// Output:
	// undecided
	// dearer × 1.210 (1.180 to 1.250)
}
