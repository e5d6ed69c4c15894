package compare_test

import (
	"fmt"

	"github.com/line-rate/line-rate/lab/compare"
)

// Eight blocks measured both builds at nearly the same time. The new one costs a tenth more.
func ExampleRatios_Interval() {
	var blocks compare.Ratios
	for _, noise := range []float64{1, 1.31, 0.99, 1.02, 1.64, 1.01, 1, 0.98} { // of the machine, which both have
		blocks.Each = append(blocks.Each, 11e-6*noise/(10e-6*noise))
	}
	r := blocks.Interval(0.05)
	c := compare.Comparison{Name: "new", Base: "old", CPUPerRequest: r, Verdict: r.Judge(0.03)}
	fmt.Println(c.Verdict)
	fmt.Println(c.Sentence(0.03))
	// Output:
	// dearer
	// new costs 10.0 % more CPU a request than old (+10.0 to +10.0 %)
}

// After three blocks nothing is decided, however far the ratio is from one.
func ExampleRatio_Judge() {
	ratios := []float64{1.21, 1.19, 1.22}
	fmt.Println(compare.Over(ratios, 0.05).Judge(0.03))
	ratios = append(ratios, 1.2, 1.18, 1.25, 1.21)
	r := compare.Over(ratios, 0.05)
	fmt.Println(r.Judge(0.03), r)
	// Output:
	// undecided
	// dearer × 1.210 (1.180 to 1.250)
}
