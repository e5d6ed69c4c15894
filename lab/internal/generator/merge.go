package generator

import (
	"errors"
	"time"
)

// A Part is the report of one of several generators that carried out a plan
// together.
type Part struct {
	Name    string  // in messages, as "client 2"
	Report  *Report // of its own plan
	Slots   []int   // by slot of its own plan: the slot of the whole
	Targets []int   // by target of its own plan: the target of the whole
	// AheadNS is what to take from the part's times to get those of the whole.
	AheadNS int64
}

// Merge adds up the reports of generators that carried out the whole plan
// together, each at the times that it was given. Counts add up, histograms are
// merged, and percentiles are those of the merged histograms. A slot counts where
// all parts that have it counted it and their times differ by no more than apart;
// else it has failed, and says which part is why. Its time is that in which all
// of them counted. It has no CPU times of servers and no wire: who read them fills
// them in.
func Merge(whole *Plan, parts []Part, apart time.Duration) (*Report, error) {
	return nil, errors.New("not there yet")
}
