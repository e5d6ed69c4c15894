// Package load loads HTTP servers in turns at little more than its share of two system calls a
// request. Command linerate uses it.
//
// A Plan names targets. New opens their connections, Turn loads one target for a slot, and Close says
// what each target answered in all slots. Run carries out the slots of a plan, and Serve those that a
// program sends.
//
//	slots  a     b     b     a     a     b        which target is loaded, and when
//	       |--|--------------|                    a slot: filled until each connection has had
//	       fill   counted     drain               an answer, counted, drained
//
// So you can compare several servers at nearly the same time, and read the servers' clocks between
// two turns, when nothing is in flight.
//
// A client must not be the bottleneck, so a thread waits with epoll for all its connections. It prepares
// requests in advance, and writes as many at once as it read answers. Of an answer it reads only what it
// needs to trust it: the status, the end by Content-Length, by chunks or by the connection's, and the
// body. It parses a head again only where it differs from the last one to the same request. It compares
// the body with what the request's Check or Options.Bodies has, or otherwise with the first body to that
// request. Those that differ are wrong. Where more than one in a hundred do, bodies change by themselves.
// It always compares the length, and every byte if that costs little. Of the others it compares
// the first 32 so, and then one in 64, drawn at random. A request allocates no memory.
//
// A slot counts from when each connection has had its first answer in it. At its end, requests in flight
// are drained. A latency counts if its request left within the counted window, so the longest latencies
// are not lost. An answer counts as a request of the slot if it came within the window, so throughput
// and CPU time are of one window.
//
// Without a rate the loop is closed: the next request is sent when an answer has come. With a rate it is
// open. The plan fixes when each request is due before it sends the first, and latency counts from then.
// So a server that stalls cannot put off the requests that would have shown it. In both, a request of
// the counted window without an answer at the end of the drain counts as unanswered. It enters the
// latencies with its age, the least that its latency can be.
//
// A connection of which the server announces the end, or that it ends while nothing is under way, is
// opened again at once, and what was in flight is asked again. One that ends otherwise is a fault, and is
// opened again at most five times.
//
// It reads the clock once after each read from a socket, so answers that one read returned have the
// same time. With several threads, the other threads' counters at a slot's edges are those of their
// last batch.
//
// Limits: Linux only. From New to Close the process collects garbage only above a heap of 256 MiB, and
// GOMAXPROCS is at least the number of threads. TLS and HTTP/2 take memory for each request. In HTTP/1.1
// a timeout counts from a connection's last sign of life. In an open loop each thread has its own part of
// the connections and of the schedule. A target that stalls or dies in one slot is passed over in all
// later ones.
package load
