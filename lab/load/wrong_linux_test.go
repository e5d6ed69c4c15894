package load

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/answer"
)

// One body in ten thousand is wrong in its last byte, of bodies that are as long as others.
func TestAWrongBodyInTenThousandIsSeen(t *testing.T) {
	for _, length := range []int{400, 4600, wholeBody} {
		body := strings.Repeat("x", length)
		answer := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", length, body)
		wrong := answer[:len(answer)-1] + "y"
		s := serve(t, func(n int64, c net.Conn) bool {
			if n%10_000 == 0 {
				return say(c, wrong)
			}
			return say(c, answer)
		})
		sum := carry(t, once(s.target(20, 10), 1)).Summary.Targets[0]
		if s.hits.Load() < 10_000 {
			t.Skipf("%d requests in a second: the machine is busy", s.hits.Load())
		}
		given := s.hits.Load() / 10_000
		if sum.Mismatches != given || !strings.Contains(sum.Mismatch, fmt.Sprintf("at byte %d", length)) {
			t.Errorf("%d bytes: %d of %d wrong bodies were seen, %q", length, sum.Mismatches, given, sum.Mismatch)
		}
		if sum.Compared < sum.Requests {
			t.Errorf("%d of %d compared", sum.Compared, sum.Requests)
		}
	}
}

// Longer bodies are drawn. A fixed turn might always meet those that a
// server answers rightly.
func TestTheComparedAreDrawn(t *testing.T) {
	long := make([]byte, wholeBody+1)
	c := newComparer(nil, 7)
	at := map[int]int{}
	const rounds = 6400
	for i := range firstInFull + rounds*oneIn {
		body := long
		if !c.wants() {
			body = nil
		} else if i >= firstInFull {
			at[(i-firstInFull)%oneIn]++
		}
		c.take(body, int64(len(long)))
	}
	if len(at) != oneIn || c.compared != firstInFull+rounds || c.mismatches > 0 {
		t.Errorf("%d of %d places were compared, %d bodies, %d mismatches", len(at), oneIn, c.compared, c.mismatches)
	}
	for place, n := range at {
		if n < rounds/oneIn/2 || n > rounds/oneIn*2 {
			t.Errorf("place %d was drawn %d times of %d", place, n, rounds)
		}
	}
}

// A route with one body is compared as a server is whose right answer nobody knows.
func TestRoutesWithOneBodyAreComparedInFull(t *testing.T) {
	for server, want := range map[string]int{"null": 1, "fiber": oneIn} {
		set, err := answer.Of(server, "/read")
		if err != nil || set.Share() != want {
			t.Errorf("%s: one in %d, %v", server, set.Share(), err)
		}
	}
}
