// Package load loads HTTP servers in slots at little more than its share of two system
// calls a request, and says what each slot cost each side. Command linerate is made of it.
//
// A Plan names targets and slots, and Run carries it out:
//
//	plan    a     b     b     a     a     b       which target is loaded, and when
//	        |--|--------------|                   a slot: filled until each connection has had
//	        fill   counted     drain              an answer, counted, drained
//
// So several servers can be compared at nearly the same time. A Report has what each slot
// measured, and what each target answered in all of them.
// Plan and report have a strict form in JSON (ReadPlan, ReadReport): a key that is
// missing, unknown, null or there twice is an error, and so is an impossible figure.
//
// A target is asked for a URL, or for several requests by their weights: any method, headers
// and bodies, with the statuses that are expected and a Check of each answer. Their order is
// drawn in advance from the plan's seed, so that each request has its share of any stretch of
// it; each connection goes through it from a place of its own. What came of each of them is
// told apart, and faults and throughput are of all together. A target may listen on a Unix
// socket, and may get a new connection for each request: the latency then counts from when that
// is opened, and the server closes it, so that the client's ports are free at once.
//
// A client must not be the bottleneck, so a thread waits with epoll for all
// its connections. Requests are prepared in advance, and as many are written at once as
// answers were read. Of an answer it reads only what it needs to trust it: the status,
// the end by Content-Length or by chunks, and the body. A head is parsed again only where it
// differs from the last one to the same request. The body is compared with what the request's
// Check or Options.Bodies has, or otherwise with the first body to that request:
// always by length, and byte by byte if the right body is one only, of up to 16 KiB, or if
// those of the route are short. Of the others the first 32 are compared so, and then one in
// 64, drawn at random. A request allocates no memory.
//
// A slot counts from when each connection has had its first answer in it. At
// its end, requests in flight are drained for up to two seconds, and the next target's
// slot begins. A latency counts if its request was sent within the counted window, and an
// answer counts as a request of the slot if it came within it: so the longest latencies
// are not lost, and throughput and CPU time are of one window. At both
// edges of the counted window it reads, one right after the other, the clock, its own
// counters, the CPU clocks of the servers and of itself, and the wire's shapers.
//
// Without a rate the loop is closed: the next request is sent when an answer has come.
// With a rate it is open. Each request is due at a time that is fixed before the first
// one is sent, and its latency counts from then, so that it includes the time that the
// request waited for a connection. So a server that stalls cannot put off the requests
// that would have shown it.
//
// In both, a request of the counted window that had no answer when the slot was drained is
// counted as unanswered, and enters the latencies with its age, which is the least that
// its latency can be.
//
// The clock is read once after each read from a socket. An answer's time is therefore
// late by no more than the earlier reads in the same batch of events, and answers that
// one read returned have the same time. With several threads, one thread reads a slot's
// edges: the other threads' counters are then those of their last batch.
//
// Over https a connection speaks TLS, and with Protocol HTTP2 it speaks HTTP/2, with Pipelining
// streams at a time; package load/h2 has that. Of HTTP/2 the bytes are those of an answer's
// frames, a stream that the server resets is an error of that request alone, and GOAWAY ends the
// connection. A handshake takes place when a connection is opened, so it is in no slot but where
// connections are opened anew. Both take memory for each request, and more of the client's CPU
// time than HTTP/1.1 in plain text.
//
// Limits: Linux only. While Run runs, the process collects garbage only above a heap of
// 256 MiB, and GOMAXPROCS is at least the number of threads. Where connections
// are kept, an answer that ends only with its connection is an error. In HTTP/1.1 a timeout
// counts from a connection's last sign of life, so a server that answers a deep pipeline very
// slowly does not time out; in HTTP/2 it counts for each stream. Where answers take
// about as long as a slot, those that come in the drain come sooner than under the load,
// and latencies are too short; rate times mean latency, against what was in flight, shows
// by how much. In an open loop each
// thread has its own part of the connections and of the schedule. A connection that
// breaks is opened again at most five times. A target that stalls or dies in one slot is
// passed over in all later ones, so that the other targets' slots come in time.
package load
