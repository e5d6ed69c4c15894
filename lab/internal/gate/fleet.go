package gate

import (
	"fmt"
	"math"
	"time"
)

const (
	// ClockUnsure is how well a client's clock must be known. Slots of a tenth of a
	// second and more then begin together to within a twentieth, which the time
	// before each slot, in which all clients load already, takes up.
	ClockUnsure = 5 * time.Millisecond
	// ClockOff is how far a client's clock may be from that of the server's host. A
	// known offset is taken into account, however large; but a clock that is so far
	// away is not kept, and may be set at any moment.
	ClockOff = 100 * time.Millisecond
	// ClockMoved is how far an offset may move during a turn: as far as it may be
	// uncertain. Two kept clocks drift apart by less than that in a minute.
	ClockMoved = ClockUnsure
	// ApartShare and ApartSlack limit how far the times may differ in which clients
	// counted one slot: by this share of the slot, or by this time if that is more.
	// Outside of the common time a client's answers are of another load.
	ApartShare = 0.05
	ApartSlack = 10 * time.Millisecond
	// EdgeShare and EdgeSlack limit how late the server's CPU time may be read after
	// a slot's begin or end: the share is the smallest margin of any claim, and a
	// slot's CPU time is off by no more. Small machines wake a reader late by some
	// milliseconds.
	EdgeShare = 0.03
	EdgeSlack = 2 * time.Millisecond
	// ClientLate is how late a client may come to a slot's begin or end. It counts the
	// answers of the planned time all the same, and only its CPU times are of a later
	// one; but a client that comes later was stopped, or had not begun.
	ClientLate = 50 * time.Millisecond
	// EndsOff is the share by which the bytes seen at both ends may differ: heads of
	// segments that offload hides from one end come to less.
	EndsOff = 0.05
	// CPUOff is how many times the CPU time that a load generator tells of its host
	// may see it use, beyond CPUSlack of a core. The host samples at other times
	// than the slots' edges, and also between slots, where less is sent.
	CPUOff   = 1.5
	CPUSlack = 0.05
)

// Apart is by how much the times may differ, in seconds, in which clients counted
// a slot of that length.
func Apart(slotS float64) float64 { return max(ApartShare*slotS, ApartSlack.Seconds()) }

// Edge is how late the server's CPU time may be read, in seconds, at the begin and
// end of a slot of that length.
func Edge(slotS float64) float64 { return max(EdgeShare*slotS, EdgeSlack.Seconds()) }

// A ClientClock is what was measured of a client's clock, in seconds.
type ClientClock struct {
	OffsetS      float64 // ahead of the clock of the server's host
	UncertaintyS float64
	MovedS       float64 // during the turn
}

// JudgeClock finds what a client's clock closes.
func JudgeClock(c ClientClock) (found []Finding) {
	add := func(gate, metric, format string, args ...any) {
		found = append(found, Finding{gate, metric, fmt.Sprintf(format, args...)})
	}
	if c.UncertaintyS > ClockUnsure.Seconds() || math.IsNaN(c.UncertaintyS) {
		add(ClocksUnsure, "uncertainty_s", "the offset of its clock was known to %.1f ms only, more than %s",
			c.UncertaintyS*1e3, millis(ClockUnsure))
	}
	if off := max(math.Abs(c.OffsetS), math.Abs(c.OffsetS+c.MovedS)); off > ClockOff.Seconds() || math.IsNaN(off) {
		add(ClocksOff, "offset_s", "its clock was %.0f ms from that of the server's host, more than %s", off*1e3,
			millis(ClockOff))
	}
	if math.Abs(c.MovedS) > ClockMoved.Seconds() {
		add(ClocksOff, "moved_s", "its clock moved by %.1f ms against that of the server's host, more than %s",
			math.Abs(c.MovedS)*1e3, millis(ClockMoved))
	}
	return found
}
