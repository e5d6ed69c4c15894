package session

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/run"
)

// destination is where runs are written: the journal, or a place of the same layout outside data/ if they
// are made for trial.
func (s *Session) destination() journal.Root {
	if s.Trial {
		return s.j.Root.Tried()
	}
	return s.j.Root
}

// save writes a run so far, with the machine's profile if that is new. So whatever ends the lab, the run
// has its complete blocks, as one that was interrupted.
func (s *Session) save(r *run.Run) error {
	f, into := r.File, s.destination()
	whole, about := *f, *f.Provenance
	whole.Provenance, about.Ended = &about, cmp.Or(about.Ended, results.Interrupted)
	text, err := results.Encode(&whole)
	if err != nil {
		return err
	}
	if _, err := os.Stat(into.Host(s.profile.ID)); errors.Is(err, fs.ErrNotExist) {
		machine, err := results.Encode(s.profile)
		if err := cmp.Or(err, s.write(into.Host(s.profile.ID), machine)); err != nil {
			return err
		}
	}
	return s.write(into.Result(f.Experiment, f.Run), text)
}

// write puts a file on the disk at once: otherwise the kernel would write it at some time during the next
// block.
func (s *Session) write(path string, data []byte) error {
	if err := results.Replace(s.j.Root.Staged(), path, data); err != nil {
		return results.Unwritable(filepath.Dir(path), err)
	}
	return nil
}

// keep writes a run that is over, with its raw profiles, which the results file names.
func (s *Session) keep(r *run.Run) error {
	packed, err := r.Raw()
	if err == nil && packed != nil {
		err = s.write(s.destination().Packed(r.File.Experiment+"/"+r.File.Run+"/c"), packed)
	}
	if err != nil {
		return err
	}
	return s.save(r)
}

// roomBytes is more than the largest run takes, with its profiles.
const roomBytes = 8 << 20

// tidy removes what a lab that was killed had half written, and checks whether a run could be kept.
func (s *Session) tidy() error {
	err := os.RemoveAll(s.j.Root.Staged())
	if err == nil {
		err = results.Room(s.j.Root.Staged(), roomBytes, s.destination().Path("data"))
	}
	if err != nil {
		return fmt.Errorf("nothing was measured: %w", err)
	}
	return nil
}
