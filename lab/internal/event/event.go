// Package event is what the producer of events and the sink share: the event that
// one sends and the other counts, the figures that the producer gives of itself,
// and how both say how long something took.
//
// Its stance: an event begins with its number and with when it was due, so that
// the sink can tell on its own what is missing and what is late. Its sizes are
// arrays and not slices, so that a copy of events is a copy of all their bytes.
// Times are kept in a room that does not grow, however many there are.
//
// Its limits: there are four sizes, and all but an event's head is there for its
// weight. Quantiles of times are good to three digits, in steps of 10
// nanoseconds; what took longer than two minutes counts as two minutes.
package event

import "encoding/binary"

// Header is how many bytes of an event are not filling.
const Header = 16

// SizeHeader is the HTTP header that says how large each event of a batch is.
// The batch's body is its events, one after the other.
const SizeHeader = "Event-Bytes"

// The sizes.
type (
	Of64   [64]byte
	Of256  [256]byte
	Of1024 [1024]byte
	Of4096 [4096]byte
)

// Raw is an event's own bytes.
func (e *Of64) Raw() []byte   { return e[:] }
func (e *Of256) Raw() []byte  { return e[:] }
func (e *Of1024) Raw() []byte { return e[:] }
func (e *Of4096) Raw() []byte { return e[:] }

// Sizes are those that there are.
var Sizes = []int{64, 256, 1024, 4096}

// An Event is a pointer to one of the sizes.
type Event[E any] interface {
	*E
	Raw() []byte
}

// Put writes an event's number and when it was due, in nanoseconds of Unix.
func Put(raw []byte, number uint64, due int64) {
	binary.LittleEndian.PutUint64(raw, number)
	binary.LittleEndian.PutUint64(raw[8:], uint64(due))
}

// Get reads what Put wrote.
func Get(raw []byte) (number uint64, due int64) {
	return binary.LittleEndian.Uint64(raw), int64(binary.LittleEndian.Uint64(raw[8:]))
}
