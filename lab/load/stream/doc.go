// Package stream reads server-sent events over many connections for little more than what
// the kernel takes for it, and says what came, what did not, and how late it was. It is the
// client of a fan-out benchmark: a server publishes an event, and each of a thousand connections
// gets it. A goroutine for each connection costs several microseconds an event there, more than
// many servers take to send one, so the client would be what is measured.
//
// A Plan says how many connections ask which paths, and for how long; Run carries it out:
//
//	open            warm-up        window          drain
//	|---------------|--------------|===============|-----------|
//	until each connection          counted         read on, so that events
//	has an answer or a fault                       under way arrive
//
// The server's faults are figures of the Report and not errors: a status, a type, a chunk or a
// size that is wrong, a connection that is refused or reset, silence. Events whose id is a
// decimal number are held against each other, connection by connection, so that a ledger can be
// closed against what the server says it sent. An event whose data has a field "at" with its
// time of publishing, in nanoseconds since 1970, also has a latency.
//
// Parser is the reader of one stream, as the WHATWG's HTML standard has it in section 9.2
// (server-sent events), with these limits: bytes that are no UTF-8 are handed on as they came,
// and an event has a greatest size.
//
// A thread waits with epoll for all of its connections, reads with calls of which Go's scheduler
// is not told, and allocates nothing for an event that lies in one read as a whole. The clock is
// read once after each read from a socket. So events that one read returned have the same time,
// with no gap between them, and an event is late by no more than a nap (Plan.Nap) and the earlier
// reads of its batch.
//
// What an event costs is then mostly the kernel's. Over TCP each read that empties a socket sends
// an ACK, and delivers it too if the server is on the same machine. That takes more than ten times
// as long as framing, parsing and counting do. To acknowledge less would be cheaper here and
// for the server, and is left alone: other clients do not do so. Events that come several at once
// pay for one read. BenchmarkReader and BenchmarkEvents tell the parts.
//
// Limits: Linux only; HTTP/1.1 in plain text. A connection that ends is opened again at most
// five times. Redirections are not followed: their status is a fault. The ids of a connection
// are held against those before it was opened again: what the server sent meanwhile was missed,
// unless it goes on from Last-Event-ID. Latency takes the clocks of both sides to agree; Early
// counts the events for which they cannot. The client's CPU time is that of its whole process,
// so a server in the same process is in it.
package stream
