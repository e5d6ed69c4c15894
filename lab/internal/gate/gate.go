// Package gate holds the thresholds past which a machine is too disturbed to
// measure on. They stand here once, so that what lab doctor says beforehand
// and what a run refuses are the same.
//
// Its stance: a gate looks at the machine, never at how fast a trial was.
package gate

// StealShare is the largest share of a core's time that the hypervisor may give
// to others: three hundredths, the smallest margin that any claim uses.
const StealShare = 0.03

// ForeignLoad is the CPU time that processes other than the lab's may use, in
// cores: a tenth. Accounting by ticks, at 250 Hz over a second, has a standard
// deviation of up to 3 %, so that a tenth is beyond three of them.
const ForeignLoad = 0.10
