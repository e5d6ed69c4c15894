//go:build !linux

package run

import (
	"time"

	"github.com/line-rate/line-rate/lab/internal/fleet"
)

func hold(at int64) { time.Sleep(time.Duration(at - fleet.Monotonic())) }

func hasten() {}
