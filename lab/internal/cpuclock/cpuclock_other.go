//go:build !linux

package cpuclock

import "time"

// Process always fails on this system.
func Process(int) (time.Duration, bool) { return 0, false }

// Thread always fails on this system.
func Thread(int) (time.Duration, bool) { return 0, false }
