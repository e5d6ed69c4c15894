package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// Runs count with one that is made now if that is of the same programs on surely the same
// machine. Where none does, the lab says that a record begins, and why.
func TestARecordBeginsAnewWithOtherProgramsOrAnotherStart(t *testing.T) {
	w := newWorkshop(t)
	w.seen = func(n int64) float64 { return float64(n) }
	if _, _, err := w.run(context.Background(), Options{Blocks: 7, Budget: time.Hour}); err != nil {
		t.Fatal(err)
	}
	archivetest.Write(t, w.root.Path(".tools/bin/fiber_server"), "a server")
	digest := func(text string) map[string]host.Binary {
		sum := sha256.Sum256([]byte(text))
		return map[string]host.Binary{"fiber_server": {SHA256: hex.EncodeToString(sum[:])},
			"lab": {SHA256: strings.Repeat("1", 64)}}
	}
	for _, c := range []struct {
		name     string
		binaries map[string]host.Binary // of the run
		boot     string                 // of the machine now
		says     string
	}{
		{"as it was", digest("a server"), "", ""},
		{"a run that names no program", nil, "", ""},
		{"another server", digest("another server"), "", "(made of something else now: fiber_server)"},
		{"another start", digest("a server"), "0123456789abcdef",
			"(the machine or its servers are not what they were)"},
	} {
		b := w.session(Options{})
		b.here.Boot = c.boot
		x, err := b.j.Experiment(counted)
		if err != nil {
			t.Fatal(err)
		}
		newest := b.j.Runs[len(b.j.Runs)-1]
		newest.Provenance.Binaries = c.binaries
		rec := b.record(x, func(*results.File) bool { return true })
		said := strings.Join(b.begins, "")
		if (len(rec.runs) > 0) != (c.says == "") || (said == "") != (c.says == "") || !strings.Contains(said, c.says) {
			t.Errorf("%s: %d runs count, said %q, want %q", c.name, len(rec.runs), said, c.says)
		}
	}
}
