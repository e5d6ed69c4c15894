//go:build !linux

package host

import "errors"

// Probe needs /proc.
func Probe() (*Profile, error) { return nil, errors.New("only a Linux machine can be described") }
