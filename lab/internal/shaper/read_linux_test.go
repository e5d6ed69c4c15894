package shaper

import (
	"strings"
	"testing"
)

func TestAnInterfaceThatIsNotThereIsNamed(t *testing.T) {
	if q, err := Open("no-such-device"); err == nil || !strings.Contains(err.Error(), "no-such-device") {
		t.Errorf("%v, %v", q, err)
	}
}

// This machine's loopback interface has no shaping queue.
func TestAnInterfaceWithoutAQueueIsNamed(t *testing.T) {
	q, err := Open("lo")
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	if r, err := q.Read(); err == nil || !strings.Contains(err.Error(), "lo") {
		t.Skipf("lo has a queue here: %+v, %v", r, err)
	}
}
