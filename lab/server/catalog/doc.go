// Package catalog is the lab server's routes and the data behind them: five hundred
// products, plain and compressed, the batches cut from them, the order in which they are
// served, and the aggregate computed over them.
//
// Everything is generated from fixed seeds and serialised once. The data need not be
// realistic, but must be identical: runs on two machines must answer with the same bytes,
// or a difference in throughput could be a difference in payload. A run proves this with
// [Pool.Digest].
//
// This sets its limits. The bytes hold for the versions of gofakeit and Go that go.mod
// pins. An upgrade may change them; the tests pin the digest so that such a change is a
// decision. Text is Lorem ipsum, so how well the pool compresses says nothing about other data. No request
// reads a disk or a database, so nothing here tells how a server that does would behave.
package catalog
