// Package variants has the ways of sending batches that the study of the batch processor
// compares, and two that it did not try, behind one interface.
//
//	pool-N   N workers, each with a buffer and a ticker of its own; a worker
//	         sends and waits for the answer, and takes no event meanwhile
//	async    one worker, which copies its buffer and sends in the background
//	swap     the same, but the buffer itself is given away and another taken
//	batch    the library, lab/batch
//
// The first two are as in the study's text, with their faults: all tickers of a pool
// start together, nothing bounds the batches that async has in flight, nothing is tried
// again, and a panic in a Send ends the process. They are here to be measured. A service
// imports the library.
//
// One thing is not in the text: every event is accounted for, so that the measurements
// can be trusted.
package variants
