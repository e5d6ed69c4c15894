package derive

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/pages"
	labprogram "github.com/line-rate/line-rate/lab/internal/program"
)

// The inputs are what an experiment's files were derived from: the experiment, its runs and
// their profiles, the hosts that they name, the figures of it that pages declare, whose its claims are, and the audits, whose
// tables and figures these may show. Designs have their digests as names, so
// runs that name the same ones have the same.
type inputs struct {
	Digest string   `json:"digest"`
	Hosts  []string `json:"hosts"`
	Files  string   `json:"files"` // digest of the derived files' names

	Blocks pages.Blocks `json:"blocks"` // of each machine's record
	Shown  string       `json:"shown"`  // the machine whose record pages show
}

// inputs reads what an experiment was last derived from; nothing if that is not known.
func (u *update) inputs(name string) (in inputs) {
	data, err := os.ReadFile(u.Root.Derived("inputs", name+".json"))
	if err != nil || json.Unmarshal(data, &in) != nil {
		return inputs{}
	}
	return in
}

// others has the blocks of the other experiments of an experiment's page, as they were last derived.
func (u *update) others(name string) pages.Blocks {
	all := pages.Blocks{}
	for _, other := range u.beside[name] {
		if other != name {
			for machine, n := range u.inputs(other).Blocks {
				all[machine] += n
			}
		}
	}
	return all
}

// digest is that of all an experiment's inputs, as they are now.
func (u *update) digest(x *experiment.Experiment, hosts []string) (string, error) {
	h := sha256.New()
	add := func(path string) error {
		sum, err := host.Digest(path)
		fmt.Fprintf(h, "%s  %s\n", sum, u.Root.Rel(path))
		return err
	}
	if err := add(u.Root.Experiment(x.Name)); err != nil {
		return "", err
	}
	whose := map[string]pages.Whose{}
	for _, c := range x.Claims {
		whose[c.ID] = u.whose[x.Name+"/"+c.ID]
	}
	if err := json.NewEncoder(h).Encode([]any{u.called(hosts), u.declared[x.Name], u.cards[x.Name], whose}); err != nil {
		return "", err
	}
	for _, id := range hosts {
		if err := add(u.Root.Host(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	err := journal.Walk(func(path string, _ fs.DirEntry) error { return add(path) },
		u.Root.Results(x.Name), u.Root.Profiles(x.Name), u.Root.Derived("data", "audits"))
	return fmt.Sprintf("%x", h.Sum(nil)), err
}

// files lists what was derived of an experiment.
func (u *update) files(name string) (out []string, err error) {
	dirs := []string{u.Root.Hosts(name), u.Root.Ratios(name)}
	for _, drawn := range []string{u.Root.Figures("*", name), u.Root.Card("*", name)} {
		found, err := filepath.Glob(drawn)
		if err != nil {
			return nil, err
		}
		dirs = append(dirs, found...)
	}
	for _, dir := range ofRuns {
		dirs = append(dirs, filepath.Join(u.Root.Derived(dir...), name))
	}
	err = journal.Walk(func(path string, _ fs.DirEntry) error {
		out = append(out, path)
		return nil
	}, dirs...)
	return out, err
}

// namesOf is a digest of files' names.
func namesOf(paths []string) string {
	slices.Sort(paths)
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(paths, "\n"))))
}

// program is the digest of this lab: that of its sources where make built it, so that a
// commit which changes none of them changes nothing, and otherwise that of the program.
var program = sync.OnceValues(func() (string, error) {
	info, ok := debug.ReadBuildInfo()
	if ok {
		if s := labprogram.StampOf(info).Sources; s != "" {
			return strings.Join([]string{s, info.GoVersion}, " "), nil
		}
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	return host.Digest(self)
})
