//go:build !linux

package main

import "time"

// sleeper has nothing better here; send_lag_s says how late it wakes.
func sleeper() (sleep func(time.Duration), done func()) { return time.Sleep, func() {} }
