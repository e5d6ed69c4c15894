//go:build !linux

package telemetry

import (
	"time"
)

// Nothing is measured on this system.
func uptime() time.Duration { return 0 }

// The lab does not measure on this system.
func threadCPU() time.Duration { return 0 }
func ownCPU() time.Duration    { return 0 }
