package load

import (
	"fmt"
	"net"
	"strings"
	"testing"
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
