//go:build !linux

package telemetry

import "time"

// threadCPU is not known here; the lab does not measure here either.
func threadCPU() time.Duration { return 0 }
