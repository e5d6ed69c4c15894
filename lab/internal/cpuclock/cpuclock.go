// Package cpuclock reads the kernel's CPU clocks of processes and threads, in
// nanoseconds.
//
// The ticks of /proc are a hundredth of a second, as long as a tenth of a short
// slot; these clocks are the scheduler's own count. A reading is one system
// call and allocates nothing.
//
// It works on Linux only. A pid may be used again for another process, so a
// later reader should know when the process started.
package cpuclock
