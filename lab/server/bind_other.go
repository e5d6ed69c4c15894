//go:build !linux

package main

// bindToMaster does nothing here: only Linux has the request. Fiber's own watch,
// every half second, is what ends a worker without a master.
func bindToMaster() error { return nil }
