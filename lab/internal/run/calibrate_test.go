package run

import (
	"errors"
	"testing"
	"time"
)

func TestARunNeedsItsCalibration(t *testing.T) {
	m := newMadeUp(t, Plan{}, always(good(1)))
	m.loop = func([]int) (time.Duration, error) { return 0, errors.New("no such core") }
	if _, err := m.blocks(t.Context(), &m.watching); err == nil || err.Error() != "the calibration loop: no such core" {
		t.Errorf("%v", err)
	}
}
