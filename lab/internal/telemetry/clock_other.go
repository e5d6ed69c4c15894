//go:build !linux

package telemetry

import "time"

// Nothing is measured here.
func uptime() time.Duration { return 0 }
