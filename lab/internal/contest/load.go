package contest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/leash"
	"github.com/line-rate/line-rate/lab/load"
)

// A Client is the lab's own load generator, on the cores of its side.
type Client struct {
	Root string   // of the repository
	CPUs []int    // empty: wherever it is put
	Hold []string // the call of the lab that holds a server: see leash.Hold
}

// clientGrace is how long a client may take beyond its plan.
const clientGrace = 30 * time.Second

// carryOut has the generator carry out a plan, and reads its report.
func (c Client) carryOut(ctx context.Context, p load.Plan) (*load.Report, error) {
	var text, out bytes.Buffer
	if err := p.Write(&text); err != nil {
		return nil, err
	}
	argv := []string{filepath.Join("lab", "scripts", "trial.sh"), "--generator", "http_load", "--plan", "-"}
	if len(c.CPUs) > 0 {
		argv = append(argv, "--cpus", cores.Format(c.CPUs))
	}
	in, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	proc, err := leash.Start(leash.Spec{Dir: c.Root, Argv: argv, Stdin: in, Stdout: &out})
	if err != nil {
		w.Close()
		return nil, fmt.Errorf("the load generator did not start: %w", err)
	}
	go func() {
		_, _ = w.Write(text.Bytes())
		w.Close() // so it does not wait with its connections open
	}()
	defer proc.Stop(proc.Pid(), 0)
	lasts := clientGrace
	for _, s := range p.Slots {
		lasts += time.Duration(s.Seconds * float64(time.Second))
	}
	select {
	case <-proc.Done():
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-time.After(lasts):
		return nil, fmt.Errorf("the load generator had not ended after %v", lasts.Round(time.Second))
	}
	if proc.Err() != nil {
		return nil, errors.New(strings.TrimPrefix(proc.LastLine(), "http_load: "))
	}
	r, err := load.ReadReport(&out)
	if err == nil {
		err = r.Fits(&p)
	}
	return r, err
}

// target is a server as the generator is told of it.
func (o Options) target(name, addr string, processes []int) load.Target {
	return load.Target{Name: name, URL: "http://" + addr + o.Path, Connections: o.Connections, Pipelining: o.Pipelining,
		Rate: float64(o.Rate), Processes: processes}
}

// fault says what went wrong with a target, in its own words; empty if nothing
// did.
func fault(t load.TargetSummary) string {
	switch {
	case t.Errors+t.Timeouts+t.Resets+t.Non2xx > 0:
		return t.Fault
	case t.Mismatches > 0:
		return t.Mismatch
	case t.Requests == 0:
		return "no request was answered"
	}
	return ""
}
