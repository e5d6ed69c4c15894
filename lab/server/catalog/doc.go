// Package catalog is the data behind the lab server's routes: five hundred
// products, the batches cut from them, the order in which they are served, and
// the aggregate computed over them.
//
// Everything is generated from fixed seeds and serialised once. The aim is not
// realistic data but identical data: a run on one machine and a run on another
// must answer with the same bytes, or a difference in throughput could be a
// difference in payload. [Pool.Digest] is how a run proves it.
//
// The limits follow from that. The bytes hold for the versions of gofakeit and
// Go that go.mod pins; an upgrade may change them, and the pinned digest in the
// tests is there to make that a decision. Text is Lorem ipsum, so the pool says
// nothing about compression. No request reads a disk or a database, so nothing
// here says what a server that does would do.
package catalog
