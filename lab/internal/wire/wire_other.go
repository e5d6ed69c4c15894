//go:build !linux

package wire

import "github.com/line-rate/line-rate/lab/internal/slots"

// A Wire needs Linux. Its methods are those that it has there.
type Wire struct{}

// Make needs Linux.
func Make(Spec) (*Wire, error) { return nil, Unavailable{"a wire is made on Linux only"} }

func (*Wire) Host() string                  { return "" }
func (*Wire) Server(argv []string) []string { return argv }
func (*Wire) Client(argv []string) []string { return argv }
func (*Wire) PID() int                      { return 0 }
func (*Wire) ClientPID() int                { return 0 }
func (*Wire) Lost() bool                    { return true }
func (*Wire) Gone() <-chan struct{}         { return nil }
func (*Wire) Read() (slots.Passed, error)   { return slots.Passed{}, nil }
func (*Wire) Down()                         {}

// Called has no calls.
func Called([]string) (status int, is bool) { return 0, false }
