package bench

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/internal/measure"
)

// referenceCall is HOST:PORT: serves there, the same to each request.
const referenceCall = "serve-reference"

// Answer carries out a call of the program to itself; false for any other.
func Answer(args []string) (status int, is bool) {
	if len(args) != 2 || args[0] != referenceCall {
		return measure.Answer(args)
	}
	answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "an answer") })
	fmt.Fprintln(os.Stderr, http.ListenAndServe(args[1], answer))
	return 1, true
}

// reference is the server beside which others are warmed up.
func (b *Bench) reference(addr string) measure.Subject {
	return &measure.Command{Label: "reference", Argv: slices.Concat(b.Self, []string{referenceCall, addr}), Dir: "/", On: b.ServerCPUs,
		At: addr, Within: 10 * time.Second, Self: b.Self, Link: measure.Loopback{}}
}
