// Package event has what the producer of events and the sink share: the event
// format, the producer's figures about itself, and how both report durations.
//
// An event begins with its number and the time when it was due, so that the
// sink alone can tell which events are missing and which are late. Sizes are
// arrays and not slices, so that copying events copies all their bytes.
// Durations are kept in a fixed amount of memory.
//
// There are four sizes, and all but an event's header is filling. Quantiles of
// durations are accurate to three digits, in steps of 10 nanoseconds; durations
// above two minutes count as two minutes.
package event

import "encoding/binary"

// Header is the number of bytes of an event before the filling.
const Header = 16

// SizeHeader is the HTTP header with the size of each event of a batch. The
// batch's body is its events, one after the other.
const SizeHeader = "Event-Bytes"

// The possible sizes of an event.
type (
	Of64   [64]byte
	Of256  [256]byte
	Of1024 [1024]byte
	Of4096 [4096]byte
)

// Raw is an event's bytes, not a copy.
func (e *Of64) Raw() []byte   { return e[:] }
func (e *Of256) Raw() []byte  { return e[:] }
func (e *Of1024) Raw() []byte { return e[:] }
func (e *Of4096) Raw() []byte { return e[:] }

// Sizes are the possible sizes in bytes.
var Sizes = []int{64, 256, 1024, 4096}

// An Event is a pointer to one of the sizes.
type Event[E any] interface {
	*E
	Raw() []byte
}

// Put writes an event's number and due time, in Unix nanoseconds.
func Put(raw []byte, number uint64, due int64) {
	binary.LittleEndian.PutUint64(raw, number)
	binary.LittleEndian.PutUint64(raw[8:], uint64(due))
}

// Get reads what Put wrote.
func Get(raw []byte) (number uint64, due int64) {
	return binary.LittleEndian.Uint64(raw), int64(binary.LittleEndian.Uint64(raw[8:]))
}
