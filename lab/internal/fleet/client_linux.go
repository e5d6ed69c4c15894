package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/procfs"

	"github.com/line-rate/line-rate/lab/internal/answer"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/load"
)

// Called carries out a call of the program to itself; false for any other.
func Called(args []string) (status int, is bool) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer stop()
	var err error
	switch {
	case len(args) > 2 && args[0] == relayCall:
		err = carry(ctx, args[1], args[2:], os.Stdin, os.Stdout)
	case len(args) == 1 && args[0] == machineCall:
		err = say(os.Stdin, os.Stdout)
	case len(args) == 1 && args[0] == clientCall:
		load.Begin()
		err = serve(ctx, os.Stdin, os.Stdout)
	default:
		return 0, false
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, strict.Lines(err.Error()))
		return 1, true
	}
	return 0, true
}

// say answers each line with this machine.
func say(in io.Reader, out io.Writer) error {
	input, output := json.NewDecoder(in), json.NewEncoder(out)
	for input.Decode(&struct{}{}) == nil {
		if err := output.Encode(reading()); err != nil {
			return err
		}
	}
	return nil
}

// longestWait is after how long without a word a client takes the network to be cut, and ends.
const longestWait = time.Minute

// serve carries out what a relay asks: a plan, then a slot at a time. It says when it has filled a
// slot, goes on loading, and counts on request. It ends with its input, in the middle of a slot,
// too.
func serve(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	input, output := json.NewDecoder(in), json.NewEncoder(out)
	var p load.Plan
	if err := input.Decode(&p); err != nil {
		return fmt.Errorf("the plan: %w", err)
	}
	full := make(chan struct{}, 1)
	known := func(t load.Target) (load.Bodies, error) { return answer.Of(t.Answers, t.Requests[0].Path) }
	l, err := load.New(ctx, &p, load.Options{Bodies: known, Full: func() { full <- struct{}{} }})
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1) // for messages while all threads load
	if err := output.Encode(word{}); err != nil {
		return err
	}
	told := make(chan load.Slot)
	go func() {
		defer close(told)
		defer cancel()
		for wait := longestWait; ; {
			var s load.Slot
			lost := time.AfterFunc(wait, func() { os.Exit(1) })
			if input.Decode(&s) != nil {
				return
			}
			if lost.Stop(); s.Seconds > 0 {
				wait = longestWait + time.Duration(s.Seconds*float64(time.Second))
			}
			told <- s
		}
	}()
	for s := range told {
		if s.Target < 0 {
			continue // it is another's, and tells that there is still somebody
		}
		if len(full) > 0 {
			<-full // of a slot that failed as it was filled
		}
		var stepping sync.WaitGroup
		before, over := reading(), make(chan struct{})
		stepping.Go(func() {
			select {
			case <-over: // it failed while filling
			case <-full:
				_ = output.Encode(word{Full: true}) // who does not hear it has closed the input
				if _, more := <-told; more {
					l.Count()
				}
			}
		})
		r, err := l.Turn(ctx, s)
		close(over)
		stepping.Wait()
		if err != nil {
			l.Close()
			return err
		}
		m := reading().since(before)
		if err := output.Encode(word{Slot: &r, Machine: &m}); err != nil {
			return err
		}
	}
	sum := l.Close()
	w := word{Sum: &sum}
	for _, t := range sum.Targets {
		w.Latencies, w.Lags = append(w.Latencies, countsOf(t.Histogram)), append(w.Lags, countsOf(t.Lags))
	}
	return output.Encode(w)
}

// facing is the interface of this machine to which who logged in came.
var facing = sync.OnceValue(func() string {
	words := strings.Fields(os.Getenv("SSH_CONNECTION"))
	if len(words) < 3 {
		return ""
	}
	return device(words[2])
})

var born = time.Now()

// reading reads this machine.
func reading() Machine {
	m := Machine{Program: program(), AtS: time.Since(born).Seconds(), LinkBps: speed(facing()),
		RxBytes: counter(facing(), "rx_bytes"), TxBytes: counter(facing(), "tx_bytes")}
	if fs, err := procfs.NewDefaultFS(); err == nil {
		if s, err := fs.Stat(); err == nil {
			c := s.CPUTotal
			m.Cores, m.BusyS, m.NetS = len(s.CPU), c.User+c.Nice+c.System+c.IRQ+c.SoftIRQ, c.IRQ+c.SoftIRQ
		}
	}
	var own syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &own) == nil {
		m.OwnS = float64(own.Utime.Nano()+own.Stime.Nano()) / 1e9
	}
	return m
}
