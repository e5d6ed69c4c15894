package fleet

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/line-rate/line-rate/lab/internal/leash"
)

// ClockAhead is a variable that only tests set, on a client's host: by so many
// seconds its wall clock, as the agent reads it, is ahead. One kernel has one wall
// clock, so the hosts of a fleet on one machine could not differ otherwise. The
// host's hello says that it is set, and each run prints it.
const ClockAhead = "LAB_TEST_CLOCK_AHEAD_S"

// clock is the wall clock that this host goes by, and what is odd about it.
func clock() (now func() time.Time, note string) {
	text := os.Getenv(ClockAhead)
	s, err := strconv.ParseFloat(text, 64)
	if err != nil || s == 0 || math.Abs(s) > 3600 {
		return time.Now, ""
	}
	ahead := time.Duration(s * 1e9)
	return func() time.Time { return time.Now().Add(ahead) },
		fmt.Sprintf("for a test, %s has its clock %v s ahead", ClockAhead, s)
}

// Monotonic is CLOCK_MONOTONIC in ns, which the generator goes by.
func Monotonic() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // never fails
	return t.Nano()
}

// Ahead is by how many ns a wall clock is ahead of CLOCK_MONOTONIC. The reading
// that was interrupted least counts.
func Ahead(now func() time.Time) (ns int64) {
	least := int64(math.MaxInt64)
	for range 9 {
		before := Monotonic()
		wall := now().UnixNano()
		if took := Monotonic() - before; took < least {
			least, ns = took, wall-before-took/2
		}
	}
	return ns
}

// A reading is how far a host's wall clock is ahead of that of the host that
// started the run, with the bounds of the error.
type reading struct {
	offset, uncertainty time.Duration
}

// trip is what one question tells: the answer was given at some time between the
// sending and the coming.
func trip(sent, came time.Time, wallNS int64) reading {
	took := came.Sub(sent)
	middle := sent.Round(0).UnixNano() + took.Nanoseconds()/2
	return reading{time.Duration(wallNS - middle), took / 2}
}

// track asks chrony how far this host's clock is from the true time at the most, in
// seconds; nil where chrony does not run or has nothing to go by.
func track() *float64 {
	if _, note := clock(); note != "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	asked := exec.CommandContext(ctx, "chronyc", "-c", "tracking")
	asked.Env, asked.WaitDelay = leash.Environment(), time.Second
	out, err := asked.Output()
	if err != nil {
		return nil
	}
	return parseTracking(string(out))
}

// The columns of chronyc -c tracking that are used, and how many there are.
const (
	columnReference  = 0
	columnStratum    = 2
	columnSystem     = 4
	columnDelay      = 10
	columnDispersion = 11
	columnLeap       = 13
	columns          = 14
)

// localReference is the id of a clock that chrony takes for true because it was
// told to, so that two such hosts need not agree.
const localReference = "7F7F0101"

// parseTracking adds up what chrony has left to correct, the root dispersion and half of
// the root delay.
func parseTracking(text string) *float64 {
	f := strings.Split(strings.TrimSpace(text), ",")
	if len(f) != columns || f[columnLeap] == "Not synchronised" || f[columnReference] == localReference ||
		f[columnStratum] == "0" {
		return nil
	}
	var v [3]float64
	for i, column := range []int{columnSystem, columnDelay, columnDispersion} {
		var err error
		if v[i], err = strconv.ParseFloat(f[column], 64); err != nil || math.IsNaN(v[i]) || math.IsInf(v[i], 0) {
			return nil
		}
	}
	if v[1] < 0 || v[2] < 0 {
		return nil
	}
	return new(math.Abs(v[0]) + v[2] + v[1]/2)
}

// between is a client's clock against that of the server's host. Chrony keeps
// both near the true time, and so near each other; where it bounds their
// difference more closely than the round trips do, its bound counts. Where the two
// contradict each other, one of them is wrong, and the larger uncertainty counts.
func between(server, client reading, serverBound, clientBound *float64) Clock {
	trips := Clock{
		OffsetS:      (client.offset - server.offset).Seconds(),
		UncertaintyS: (client.uncertainty + server.uncertainty).Seconds(),
		Method:       "round-trips",
	}
	if serverBound == nil || clientBound == nil {
		return trips
	}
	chrony := Clock{UncertaintyS: *serverBound + *clientBound, Method: "chrony"}
	surer, other := trips, chrony
	if chrony.UncertaintyS < trips.UncertaintyS {
		surer, other = chrony, trips
	}
	if math.Abs(trips.OffsetS) > trips.UncertaintyS+chrony.UncertaintyS {
		other.Note = fmt.Sprintf("chrony says that the clocks differ by at most %.3g ms, and round trips that it is %.3g "+
			"ms, give or take %.3g ms",
			1e3*chrony.UncertaintyS, 1e3*trips.OffsetS, 1e3*trips.UncertaintyS)
		return other
	}
	return surer
}
