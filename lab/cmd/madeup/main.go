// Command madeup adds made-up runs to a journal, for tests that need many of them:
//
//	go run ./cmd/madeup DIR <plans
//
// Each line of plans is a run as JSON: experiment, host, started, seed, blocks,
// ended, and costs, the cost of a request at each level of the experiment's
// first factor, as a multiple of the usual cost. The run and its design are
// written below DIR/data.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/madeup"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

type plan struct {
	Experiment string             `json:"experiment"`
	Host       string             `json:"host"`
	Started    time.Time          `json:"started"`
	Seed       uint64             `json:"seed"`
	Blocks     int                `json:"blocks"`
	Ended      results.Ended      `json:"ended"`
	Costs      map[string]float64 `json:"costs"`
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: madeup DIR <plans")
		os.Exit(2)
	}
	if err := add(journal.Root(os.Args[1]), os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func add(root journal.Root, plans io.Reader) error {
	for dec := json.NewDecoder(plans); ; {
		var p plan
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		x, err := experiment.Load(root.Experiment(p.Experiment))
		if err != nil {
			return err
		}
		f := madeup.Run(madeup.Plan{
			Experiment: x, Hosts: results.Hosts{Server: p.Host, Client: p.Host}, Started: p.Started, Seed: p.Seed,
			Blocks: p.Blocks, Ended: p.Ended,
			Trial: func(levels setting.Levels, _ int, _ bool) madeup.Came {
				return madeup.Came{CostS: madeup.Usual.CostS * p.Costs[levels[x.Factors[0].Name].String()], Noise: 0.02}
			},
		})
		data, err := results.Encode(f)
		if err != nil {
			return err
		}
		for path, data := range map[string][]byte{root.Result(f.Experiment, f.Run): data, root.Design(x.SHA256): x.Text} {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(path, data, 0o644); err != nil {
				return err
			}
		}
	}
}
