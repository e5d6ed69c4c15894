// Package peers has a benchmark that prints what lab/batch costs compared with other ways to
// gather events into batches: adding an event, delivering batches over loopback HTTP, and
// doing both at a fixed rate.
//
// Only ratios within one run count: all peers take turns in short rounds, and a ratio is
// printed as its median and its least over the rounds. Each peer is set to batches of
// 1,000 events of 56 bytes, a queue of 10,000 and 4 batches in flight, as far as it can
// be, and the table says what it does when it is full. A peer that drops events, carries
// less, or waits for an answer is not cheaper because of that: it does something else.
//
// Limits: producers, queue, senders and the receiver share one process and its
// processors. Events have no pointers; with pointers every peer would give the garbage
// collector more work. The null sink does not read events, so adding is measured with
// buffers that no other processor has read. This is a module of its own, so that a
// program that imports lab/batch imports none of its peers.
package peers
