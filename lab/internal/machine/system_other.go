//go:build !linux

package machine

import "time"

// The lab does not measure on this system.
func threadCPU() time.Duration { return 0 }
func ownCPU() time.Duration    { return 0 }
