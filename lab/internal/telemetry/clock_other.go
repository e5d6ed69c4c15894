//go:build !linux

package telemetry

import "time"

// Nothing is measured on this system.
func uptime() time.Duration { return 0 }
