//go:build !linux

package telemetry

import "time"

// Nothing is measured here.
func processCPU(int) (time.Duration, bool) { return 0, false }
func uptime() time.Duration                { return 0 }
