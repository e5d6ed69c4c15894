//go:build !linux

package cpuclock

import "time"

// Process reads nothing here.
func Process(int) (time.Duration, bool) { return 0, false }

// Thread reads nothing here.
func Thread(int) (time.Duration, bool) { return 0, false }
