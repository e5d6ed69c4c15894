package run

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/results"
	httpload "github.com/line-rate/line-rate/lab/load"
)

// pprof is the directory of the server's own sockets, below the root. One lab runs at a time, so a port's is
// one server's.
func (l load) pprof() string { return filepath.Join(".tools", "scratch", "pprof", l.at.Port) }

// sockets is that directory by its shortest path, since the length of a unix socket's path is limited.
func (l load) sockets() string {
	dir := l.Root.Path(l.pprof())
	if wd, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(wd, dir); err == nil && len(rel) < len(dir) {
			return rel
		}
	}
	return dir
}

// take adds the profiles to the trial, with the throughput of their window.
func take(t *results.Trial, set profile.Set, extra []httpload.SlotReport) {
	for _, kind := range profile.Kinds() {
		p, err := profile.Analyse(kind, set[kind])
		if err != nil {
			t.Reasons = append(t.Reasons, results.Reason{Gate: gate.ProfileFailed, Detail: fmt.Sprintf("the %s profile: %v", kind, err)})
			return
		}
		t.Profiles = append(t.Profiles, p)
	}
	if before := t.Metrics["throughput_rps"]; before > 0 && len(extra) > 0 && extra[0].Seconds > 0 {
		t.Metrics["profiled_throughput_share"] = float64(extra[0].Requests) / extra[0].Seconds / before
	}
}

// Raw merges the profiles of each condition's valid trials, names them in the
// file, and returns their archive; nil if there are none.
func (r *Run) Raw() ([]byte, error) {
	out := map[string][]byte{}
	for i := range r.File.Conditions {
		cond := &r.File.Conditions[i]
		var of []profile.Set
		for _, t := range r.File.Trials {
			if set := r.taken[t.Seq]; set != nil && t.Condition == cond.ID {
				of = append(of, set)
			}
		}
		if len(of) == 0 {
			continue
		}
		merged, err := profile.Merge(of)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", cond.Levels.Key(), err)
		}
		for _, kind := range profile.Kinds() {
			var b bytes.Buffer
			_ = merged[kind].Write(&b) // to memory, where nothing fails
			name := fmt.Sprintf("%s/%s/%s-%s.pb.gz", r.File.Experiment, r.File.Run, cond.ID, kind)
			out[name] = b.Bytes()
			cond.Profiles = append(cond.Profiles,
				results.RawProfile{Kind: kind, File: name, SHA256: fmt.Sprintf("%x", sha256.Sum256(b.Bytes())), Trials: len(of)})
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	return results.PackRaw(out)
}
