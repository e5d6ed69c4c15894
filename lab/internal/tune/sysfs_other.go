//go:build !linux

package tune

// ownSys is Linux's.
func ownSys() string { return "" }
