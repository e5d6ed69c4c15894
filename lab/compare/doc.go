// Package compare says whether one server costs more than another, from blocks in which all
// were measured at nearly the same time. An Outcome is also what linerate compare prints as JSON.
//
// What it says rests on CPU time a request alone. Two servers are "the same" only if the whole
// interval of the median block's ratio lies within the margin. One costs more or less only if
// the whole interval lies on one side of 1. Throughput and latency describe the load, the client
// and the wire as much as the server, so they decide nothing. Intervals are those of package
// confseq, which hold whenever one stops; those of one metric share an error of one in twenty.
//
// Whether one costs more at all is bet on twice, on how many blocks say so and on how far from
// equality they are. The second is fair by design, whatever the noise. If nothing differs, only the
// names tell a block's figures apart. A lot drew the names in each block, so all ways are as likely. A
// third figure, of a second start of one server, makes this bet sharper, since it shows in each block
// what starts alone do. By how much a server costs more is another question. The design does not say
// that one costs more by the same factor in each block, so each bound other than 1 rests on the number
// of blocks alone. Where "more" is shown sooner than by how much, the interval begins at 1 and leaves
// it out.
//
// Counting assumes that where the servers cost the same, the next block is as likely to fall on either
// side, whatever the ones before did. What favours one server for the whole time would be taken
// for a difference; measuring again an hour later shows that, and so does one server that is
// measured twice under two names.
//
// It measures nothing: package load does, and reads the CPU time of servers. Limits: it does not
// know what bounded a server, and sees a client that was the wall only if the caller says so.
package compare
