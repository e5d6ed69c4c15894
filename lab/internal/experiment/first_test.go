package experiment

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// first are the experiments of the first twelve entries.
const first = `
01-prefork 01-servers 02-offered-rate 02-prefork-spreads 03-rps-rfs
04-client-ceiling 04-ramp 05-littles-law 06-irq-pinning
08-cpu-bound 09-mutex 09-prefork
10-workers 11-pipelining-read 11-pipelining-simple 11-threads 11-workers-at-the-wall
aa-control aa-slowed batch-copy batch-flush batch-offered batch-pacing batch-waiting
`

// Only designs of runs that were made before may leave the generator out.
func TestTheFirstExperimentsNameTheirGenerator(t *testing.T) {
	for _, name := range strings.Fields(first) {
		x, err := Load(filepath.Join(committed, name+".toml"))
		if err != nil {
			t.Fatal(err)
		}
		if _, fixed := x.Fixed()["generator"]; !fixed &&
			!slices.ContainsFunc(x.Factors, func(f Factor) bool { return f.Name == "generator" }) {
			t.Errorf("%s does not say which generator it is measured with", x.Name)
		}
	}
}
