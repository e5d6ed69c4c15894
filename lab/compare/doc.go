// Package compare says whether one server costs more than another, from blocks in which all
// were measured at nearly the same time. An Outcome is also what linerate compare prints as JSON.
//
// What it says rests on CPU time a request alone. It is "the same" only if the whole interval of
// the median block's ratio lies within the margin, and "dearer" or "cheaper" only if all of it
// lies on one side of 1. Throughput and latency are shown beside that: they describe the load,
// the client and the wire as much as the server. Intervals are those of package confseq, which
// hold whenever one stops; those of one metric share an error of one in twenty.
//
// It assumes that where the servers cost the same, the next block is as likely to fall on either
// side, whatever the ones before did. What favours one server for the whole time would be taken
// for a difference; measuring again an hour later shows that, and so does one server that is
// measured twice under two names.
//
// It measures nothing: package load does, and reads the CPU time of servers. Limits: it does not
// know what bounded a server, and sees a client that was the wall only if the caller says so.
package compare
