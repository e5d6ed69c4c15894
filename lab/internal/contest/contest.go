// Package contest measures, for linerate compare, whether one HTTP server costs more than another:
// two builds of a program, or any programs that answer the same request. Package compare
// says what the blocks tell.
//
// It adds no way of measuring and no statistics to those of the journal. A
// comparison is an experiment made in memory, with the server as its only
// factor. Package run measures it in blocks: servers started afresh, one client
// that goes round them in short slots in an order drawn from a seed, one server
// measured twice under two names as the control. What the blocks tell is the
// confidence sequence of package confseq, which holds whenever one stops.
//
// A comparison is one stay of a minute, and it bets on each of its blocks as the
// journal bets on a visit. So it says what was seen in that minute, where a record
// of the journal needs seven visits.
//
// Before the first block each server is started alone (Look). What cannot be
// measured is refused there, in one line, with a way out: a command that is not
// there, ends, goes into the background, listens elsewhere or nowhere, or answers
// otherwise than the others.
//
// Servers that run already are measured from outside. They are not started afresh
// for each block, so what differs between two starts of one server is not seen.
// Of those that are known by their addresses alone the CPU time cannot be read, and
// nothing is said of cost.
package contest
