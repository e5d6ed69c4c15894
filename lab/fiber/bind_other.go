//go:build !linux

package main

// bindToMaster does nothing on this system: only Linux has this setting. A worker without
// a master is ended by Fiber's own check, every half second.
func bindToMaster() error { return nil }
