package topology

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/line-rate/line-rate/lab/internal/leash"
	"github.com/line-rate/line-rate/lab/internal/shaper"
)

// A watch reads one side's shaper from inside its namespace, since it cannot be
// read from another one.
type watch struct {
	proc  *leash.Proc
	mu    sync.Mutex
	all   []shaper.Reading
	first chan struct{}
}

// Watch begins to read the shapers of both directions. argv is the command that
// prints readings; the device's name is appended to it. Over loopback there is
// nothing to watch.
func (l *Link) Watch(dir string, argv []string) error {
	if l.holder == nil {
		return nil
	}
	for i, device := range []string{l.NetDevice, l.PeerDevice} {
		w := &watch{first: make(chan struct{})}
		var once sync.Once
		full := append(append(append([]string{}, l.wrap[i]...), argv...), device)
		proc, err := leash.Start(leash.Spec{Dir: dir, Argv: full, Env: []string{"GOMAXPROCS=1"}, Lines: func(line string) {
			r, ok, err := shaper.Parse(line)
			if !ok || err != nil {
				return // the error message is kept as the last line
			}
			w.mu.Lock()
			w.all = append(w.all, r)
			w.mu.Unlock()
			once.Do(func() { close(w.first) })
		}})
		if err != nil {
			return fmt.Errorf("the wire's counters: %w", err)
		}
		w.proc = proc
		l.watches = append(l.watches, w)
		select {
		case <-w.first:
		case <-proc.Done():
			return fmt.Errorf("the wire's counters cannot be read: %s", proc.LastLine())
		case <-time.After(10 * time.Second):
			return fmt.Errorf("the wire's counters were not read within ten seconds: %s", proc.LastLine())
		}
	}
	return nil
}

// Wire gives all readings so far of the server's and the client's shaper,
// oldest first; none without a wire.
func (l *Link) Wire() (server, client []shaper.Reading) {
	if len(l.watches) != 2 {
		return nil, nil
	}
	return l.watches[0].readings(), l.watches[1].readings()
}

func (w *watch) readings() []shaper.Reading {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.all)
}
