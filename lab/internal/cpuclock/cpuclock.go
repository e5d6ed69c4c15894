// Package cpuclock reads the kernel's CPU clocks of processes and threads, in
// nanoseconds.
//
// Its stance: the ticks of /proc are a hundredth of a second, as long as a
// tenth of a short slot; these clocks are the scheduler's own count. A reading
// is one system call and takes no memory.
//
// Its limits: Linux only, and a pid may come to be another process's; who reads
// one long after should know when it started.
package cpuclock
