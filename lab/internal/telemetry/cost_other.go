//go:build !linux

package telemetry

import "time"

// CPU times of the lab are not known here; it does not measure here either.
func threadCPU() time.Duration { return 0 }
func ownCPU() time.Duration    { return 0 }
