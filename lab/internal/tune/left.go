package tune

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/prometheus/procfs"
)

// Restore is the command that turns every setting back.
const Restore = "sudo .tools/bin/lab tune restore"

// A Left is a kernel setting that something turned and nothing has restored.
type Left struct {
	Path, Original, Now string
	Knob                string // that turned it
	Since               time.Time
	By                  By
	PID                 int  // of the process that holds it, or held it
	Service             bool // it is a service that was stopped
	roots               bool // the original is root's, which this process may not restore
}

// By says who turned a setting.
type By string

// A setting is turned by hand and stays until it is restored, or is held by a
// process: one that still runs, or one that has died without restoring it.
const (
	ByHand By = "by hand"
	Held   By = "held"
	Orphan By = "orphan"
)

func (l Left) String() string {
	says := fmt.Sprintf("the kernel setting %s is %q and was %q: tune-%s.sh turned it at %s", l.Path,
		plain(l.Now), plain(l.Original), l.Knob, l.Since.Format(time.RFC3339))
	switch l.By {
	case Held:
		return says + fmt.Sprintf(", and process %d still holds it", l.PID)
	case Orphan:
		return says + ", and the process that was to restore it has died"
	}
	return says + ", by hand"
}

// A keeper is the process that restores a target when it ends.
type keeper struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // in ticks since boot: a pid alone may be used again
}

// itself is this process as a keeper. A made-up tree has no processes.
func itself() *keeper {
	s, err := stat(os.Getpid())
	if err != nil {
		return nil
	}
	return &keeper{s.PID, s.Starttime}
}

func stat(pid int) (procfs.ProcStat, error) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return procfs.ProcStat{}, err
	}
	return p.Stat()
}

func (r original) by(m *machine) By {
	if r.Holder == nil {
		return ByHand
	}
	s, err := stat(r.Holder.PID)
	// A process that was killed keeps its number until its parent asks for its end, which
	// the first process of a container may never do.
	if dead := err != nil || s.State == "Z"; !dead && s.Starttime == r.Holder.Start && r.Boot == m.boot {
		return Held
	}
	return Orphan
}

// left lists the settings in force here of which this session, which need not have
// the lock, has an original.
func (s *session) left() (all []Left) {
	for _, r := range s.Records {
		if why, _ := s.missing(r); why != "" {
			continue // it is in force elsewhere, or gone
		}
		now, err := s.m.read(r.Target)
		if err != nil || r.Target.same(now, r.Original) {
			continue
		}
		l := Left{Path: r.Target.Path, Original: r.Original, Now: now, Knob: r.Knobs[0], Since: r.Time,
			By: r.by(s.m), Service: r.Target.Kind == kindUnit}
		if r.Holder != nil {
			l.PID = r.Holder.PID
		}
		all = append(all, l)
	}
	return all
}

// All lists the settings that something turned here and nothing has restored: by
// the originals of this process's user, and of root where they can be read.
func All() (all []Left, err error) {
	err = inside(func() error {
		m, err := here()
		if errors.As(err, new(Unavailable)) {
			return nil // nothing can be turned from here
		} else if err != nil {
			return err
		}
		dir, err := stateDir("")
		if err != nil {
			return nil // and so nothing was saved
		}
		own := &session{m: m, dir: dir}
		if err := own.read(); err != nil {
			return err
		}
		all = own.left()
		if dir == rootDir || os.Getenv("LINE_RATE_STATE") != "" {
			return nil
		}
		roots := &session{m: m, dir: rootDir}
		if text, err := os.ReadFile(roots.file()); err == nil {
			if roots.originals, err = decode(text); err != nil {
				return fmt.Errorf("%s: %w", roots.file(), err)
			}
		}
		for _, l := range roots.left() {
			l.roots = true
			all = append(all, l)
		}
		return nil
	})
	return all, err
}

// holdsEnd is how long a hold whose lab has just died may take to restore.
const holdsEnd = 3 * time.Second

// Settle restores what processes that have died left turned, as after kill -9, and
// says what it restored and what is still turned. left is valid with an error, too.
func Settle() (restored, left []Left, err error) {
	for end := time.Now().Add(holdsEnd); ; time.Sleep(lockTick) {
		if left, err = All(); err != nil {
			return nil, nil, err
		}
		if !slices.ContainsFunc(left, func(l Left) bool { return l.By == Held }) || time.Now().After(end) {
			break
		}
	}
	restored = strict.Those(left, func(l Left) bool { return l.By == Orphan && !l.roots })
	if len(restored) == 0 {
		return nil, left, nil
	}
	failed := inside(func() error {
		m, err := here()
		if err != nil {
			return err
		}
		s, err := open(m, "")
		if err != nil {
			return err
		}
		defer s.close()
		_, err = s.restore(func(r original) bool {
			why, gone := s.missing(r)
			return r.by(m) == Orphan && (why == "" || gone)
		}, io.Discard)
		return err
	})
	if left, err = All(); err != nil {
		return nil, nil, err
	}
	restored = slices.DeleteFunc(restored, func(was Left) bool {
		return slices.ContainsFunc(left, func(l Left) bool { return l.Path == was.Path })
	})
	return restored, left, failed
}

// mostValues is how many different values of one setting are told apart.
const mostValues = 8

// Values are the settings that the knobs can turn, as they are now: for each, the
// different values that the queues and interrupts of all interfaces have. They name
// no interface. The files are below root: "/", except in tests.
func Values(root string) map[string]string {
	m := &machine{tree: strings.TrimSuffix(root, "/")}
	set := map[string]string{}
	add := func(name string, files []string) {
		var seen []string
		for _, f := range files {
			if v, err := m.text(strings.TrimPrefix(f, m.tree)); err == nil && v != "" && !slices.Contains(seen, v) {
				seen = append(seen, v)
			}
		}
		if slices.Sort(seen); len(seen) > mostValues {
			seen = append(seen[:mostValues], fmt.Sprintf("and %d more", len(seen)-mostValues))
		}
		if len(seen) > 0 {
			set[name] = strings.Join(seen, "; ")
		}
	}
	glob := func(pattern string) []string {
		files, _ := filepath.Glob(m.tree + pattern)
		return files
	}
	var interrupts []string
	rx, tx := 0, 0
	for _, device := range glob(netDir + "*/device") { // a card's, or one made for a virtual machine
		dev := path.Base(path.Dir(device))
		rx += len(glob(netDir + dev + "/queues/rx-*"))
		tx += len(glob(netDir + dev + "/queues/tx-*"))
		numbers, _ := messages(m.tree, dev)
		for _, n := range numbers {
			interrupts = append(interrupts, m.tree+"/proc/irq/"+strconv.Itoa(n)+"/smp_affinity_list")
		}
	}
	if rx+tx > 0 {
		set["queues"] = fmt.Sprintf("rx %d tx %d", rx, tx)
	}
	for _, k := range knobs {
		switch {
		case len(k.services) == 0 && k.where == irqDir: // those of interfaces only
			add(path.Base(k.paths[0]), interrupts)
		case len(k.services) == 0: // the last is a queue's
			pattern := k.paths[len(k.paths)-1]
			add(path.Base(pattern), glob(pattern))
		case k.runs(m):
			set[k.name] = "runs"
		default:
			set[k.name] = "does not run"
		}
	}
	return set
}
