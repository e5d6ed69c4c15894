//go:build !linux

package telemetry

import (
	"os"
	"time"
)

// slurp reads a small file. This system has no /proc to be read often.
func slurp(path string, _ []byte) ([]byte, error) { return os.ReadFile(path) }

// Nothing is measured on this system.
func uptime() time.Duration { return 0 }

// The lab does not measure on this system.
func threadCPU() time.Duration { return 0 }
func ownCPU() time.Duration    { return 0 }
