// Package program has what the lab's serving, loading and counting programs share: how
// they read their flags, what they print, how they end, and the stamp of their sources.
//
// A program that another one starts prints one message a line, under its own
// name. Its exit status tells a wrong call, and an address that cannot be used,
// from everything else. Servers under test import this package, so it imports
// only the standard library.
//
// The lab's own command line has a parser of its own. Nobody can check a stamp: a person who builds
// a program can write any.
package program

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The exit statuses. A script can tell its own mistake and an address in use
// apart without parsing messages.
const (
	OK         = 0 // asked to end, or did what was asked for
	Failure    = 1 // anything without a status of its own
	Refused    = 2 // it refused a setting
	InUse      = 3 // for a listener: the address is taken
	NotReached = 3 // for a client: nothing listens there
)

// A Program is a program's name and its output.
type Program struct {
	Name      string
	Out, Errs io.Writer
}

// Say prints one line in one write, so that the lines of several processes that
// share the descriptor do not mix.
func (p Program) Say(format string, args ...any) {
	line := strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "; ")
	fmt.Fprintf(p.Errs, "%s: %s\n", p.Name, line)
}

// Over tells whether a program ends after parsing its flags with err: help was
// asked for, or the call was wrong. It gives the exit status.
func (p Program) Over(err error, help string) (status int, over bool) {
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(p.Out, help)
		return OK, true
	case err != nil:
		p.Say("%v", err)
		return Refused, true
	}
	return OK, false
}

// Listen opens an address that a flag sets. On failure it prints a message that
// names the flag, and returns no listener and the exit status.
func (p Program) Listen(network, addr, flag string) (net.Listener, int) {
	ln, err := net.Listen(network, addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		p.Say("%s is already in use; stop the other server or choose another with --%s", addr, flag)
		return nil, InUse
	case err != nil:
		p.Say("--%s: %v", flag, err)
		return nil, Failure
	}
	return ln, OK
}

// Asked returns a channel for the signals that ask a program to end. Only the first stays.
func Asked() <-chan os.Signal {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGTERM, syscall.SIGINT)
	return c
}

// Serve serves until the program is asked to end, and then ends at once.
func (p Program) Serve(ln net.Listener, asked <-chan os.Signal, serve func() error) int {
	served := make(chan error, 1)
	go func() { served <- serve() }()
	p.Say("worker pid=%d listening addr=%s", os.Getpid(), ln.Addr())
	select {
	case <-asked:
		return OK
	case err := <-served:
		p.Say("serve: %v", err)
		return Failure
	}
}

// Measure carries out a trial and prints what it gives as a line of JSON, unless the program is asked to end.
func (p Program) Measure(trial func(context.Context) (any, error)) int {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer cancel()
	out, err := trial(ctx)
	if ctx.Err() != nil {
		err = errors.New("ended by a signal; nothing was measured")
	}
	if err == nil {
		err = json.NewEncoder(p.Out).Encode(out)
	}
	if err == nil {
		return OK
	}
	p.Say("%v", err)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return NotReached
	}
	return Failure
}

// Flags are a program's flags. Each error is one line that names what is
// accepted.
type Flags struct{ *flag.FlagSet }

// NewFlags makes an empty set of flags.
func NewFlags() Flags {
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	return Flags{fs}
}

// Whole adds a flag for a whole number within bounds.
func (f Flags) Whole(name string, to *int, least, most int) {
	f.Func(name, "", func(v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < least || n > most {
			return fmt.Errorf("give a whole number from %d to %d", least, most)
		}
		*to = n
		return nil
	})
}

// OneOf adds a flag that takes one of some words, of which the first is the default.
func (f Flags) OneOf(name string, to *string, words ...string) {
	*to = words[0]
	f.Func(name, "", func(v string) error {
		if !slices.Contains(words, v) {
			return errors.New("give " + strings.Join(words, " or "))
		}
		*to = v
		return nil
	})
}

// Seconds adds a flag for a time in seconds, of up to an hour.
func (f Flags) Seconds(name string, to *time.Duration, least float64) {
	f.Func(name, "", func(v string) error {
		n, err := strconv.ParseFloat(v, 64)
		if err != nil || !(n >= least && n <= 3600) {
			return fmt.Errorf("give seconds from %g to 3600", least)
		}
		*to = time.Duration(n * float64(time.Second))
		return nil
	})
}

// Loopback adds a flag for an address that only this machine can reach. It makes localhost a number and refuses other
// names, since a name may resolve differently when listening.
func (f Flags) Loopback(name string, to *string) {
	f.Func(name, "", func(v string) error {
		host, port, _ := net.SplitHostPort(v)
		if host == "localhost" {
			host = "127.0.0.1"
		}
		if ip, err := netip.ParseAddr(host); err != nil || !ip.Unmap().IsLoopback() || !HostPort(v) {
			return errors.New("give HOST:PORT with a loopback host: 127.0.0.1, [::1] or localhost")
		}
		*to = net.JoinHostPort(host, port)
		return nil
	})
}

// Read parses arguments that are all flags. A hint may say what another
// argument was probably meant to be. The error is flag.ErrHelp where help was
// asked for.
func (f Flags) Read(args []string, hint string) error {
	err := f.Parse(args)
	switch {
	case err != nil && !errors.Is(err, flag.ErrHelp):
		return fmt.Errorf("%w; see --help", err)
	case err == nil && f.NArg() > 0:
		return fmt.Errorf("unexpected argument %q; %ssee --help", f.Arg(0), hint)
	}
	return err
}

// HostPort tells whether v is a host and a numeric port. Whether the address
// exists only shows when listening on it.
func HostPort(v string) bool {
	_, port, err := net.SplitHostPort(v)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	return err == nil
}
