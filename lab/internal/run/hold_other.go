//go:build !linux

package run

import "time"

func hold(at int64) { time.Sleep(time.Duration(at - monotonic())) }

func hasten() {}
