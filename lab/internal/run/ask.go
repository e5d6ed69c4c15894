package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/probe"
	"github.com/line-rate/line-rate/lab/internal/proc"
)

// askedOf says what came of asking a server.
type askedOf struct {
	given []probe.Given
	err   error
}

// ask asks the server, from the client's side of the wire and the client's
// cores, until it answers, and then a few times more. It returns nil where the
// server is not asked, since the lab knows the answers of all of the
// experiment's servers.
func (l load) ask(ctx context.Context) <-chan askedOf {
	if !l.compares {
		return nil
	}
	done := make(chan askedOf, 1)
	go func() {
		given, err := l.given(ctx)
		done <- askedOf{given, err}
	}()
	return done
}

func (l load) given(ctx context.Context) ([]probe.Given, error) {
	var given []probe.Given
	target, err := json.Marshal(l.target(nil))
	if err == nil {
		err = l.called(ctx, &given, target, askCall, l.ready.String())
	}
	if err == nil && len(given) == 0 {
		err = errors.New("it gave no answer")
	}
	return given, err
}

// called gives what a call of the lab prints as JSON. It runs on the client's side of
// the wire and on the client's cores, so that it takes no CPU time from the server.
func (l load) called(ctx context.Context, into any, input []byte, call ...string) error {
	argv := slices.Concat(l.lab, call)
	if l.alone {
		argv = OnCPUs(l.lab, l.split.Client, argv...)
	} else if len(l.split.Client) > 0 {
		argv = append([]string{"taskset", "--cpu-list", cores.Format(l.split.Client)}, argv...)
	}
	return Call(ctx, proc.Spec{Dir: l.dir, Argv: l.link.Client(argv), Stdin: bytes.NewReader(input)}, call[0], into, nil)
}

// Call has a program started with one of the calls that programs make of themselves, and reads the JSON that
// it prints. It says why it failed in its last line, behind the call's name. began, if there is one, is told
// its process.
func Call(ctx context.Context, s proc.Spec, name string, into any, began func(pid int)) error {
	var out bytes.Buffer
	s.Stdout = &out
	proc, err := proc.Start(s)
	if err != nil {
		return fmt.Errorf("%s did not start: %w", name, err)
	}
	if began != nil {
		began(proc.Pid())
	}
	select {
	case <-ctx.Done():
		_ = proc.Stop(proc.Pid(), time.Second)
		return context.Cause(ctx)
	case <-proc.Done():
	}
	if proc.Err() != nil {
		_, why, _ := strings.Cut(proc.LastLine(), ": ") // behind the program's name
		return errors.New(why)
	}
	if err := json.Unmarshal(out.Bytes(), into); err != nil {
		return fmt.Errorf("what %s printed cannot be read: %w", name, err)
	}
	return nil
}

// sameAnswers is an error if servers that were asked the same differ in what
// they answer. What the first of them answers counts as right.
func sameAnswers(servers []*server) error {
	first := map[string]*server{}
	for _, s := range servers {
		if s.given == nil {
			continue
		}
		of := first[s.route]
		if of == nil {
			first[s.route] = s
			continue
		}
		last := s.given[len(s.given)-1].Of
		for i := range last + 1 {
			why := probe.Differ(probe.To(i, of.given), probe.To(i, s.given)).String()
			if why != "" && last > 0 {
				why = fmt.Sprintf("to request %d: %s", i+1, why)
			}
			if why != "" {
				return fmt.Errorf("%s answers %s otherwise than %s: %s", s.name(), s.route, of.name(), why)
			}
		}
	}
	return nil
}
