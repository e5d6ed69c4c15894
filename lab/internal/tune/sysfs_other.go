//go:build !linux

package tune

// enterSys is Linux's.
func enterSys() {}
