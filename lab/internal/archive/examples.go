package archive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/line-rate/line-rate/lab/internal/calibration"
	"github.com/line-rate/line-rate/lab/internal/certify"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// Examples are what commands printed for pages that show it. They decide nothing, and
// nothing else has their figures, so that only their form can be checked; and a figure
// of one that was committed changes only with the time at which it was printed.
const (
	examples    = "data/examples"
	mostExample = 16 << 10 // bytes; the longest so far has 3 kB
)

// printedAt reports when an example was printed: linerate compare says started_at, and make
// bench-fleet date.
func printedAt(data []byte) (when [2]string) {
	var of struct {
		StartedAt string `json:"started_at"`
		Date      string `json:"date"`
	}
	_ = json.Unmarshal(data, &of) // what does not parse is refused elsewhere
	return [2]string{of.StartedAt, of.Date}
}

// example reports an example whose figures were changed.
func (c *change) example(p string) error {
	was, err := c.one(c.files[p])
	if err != nil {
		return err
	}
	now, _, err := c.now(p)
	if err == nil && now != nil && printedAt(was) == printedAt(now) && !bytes.Equal(was, now) {
		c.fault(p, "changed, though by its own words it was printed when %s was; print it again, or git checkout %s -- %s",
			c.base, c.base, p)
	}
	return err
}

// foreign reports files that have no place among experiments, data, examples and certificates.
func (j *Journal) foreign() (faults []Fault, err error) {
	fault := func(path string, err error) { faults = append(faults, faultOf(j.Root, path, err)) }
	designs, err := os.ReadDir(j.Root.Experiments())
	if err != nil {
		return nil, err
	}
	for _, e := range designs {
		if e.IsDir() || filepath.Ext(e.Name()) != ".toml" {
			fault(filepath.Join(j.Root.Experiments(), e.Name()), errors.New("only experiments (.toml) belong there"))
		}
	}
	others, err := j.Root.Foreign()
	if err != nil {
		return nil, err
	}
	for _, p := range others {
		fault(p, errors.New("nothing reads it; remove it (what follows from data is in derived/, by lab derive)"))
	}
	for _, of := range []struct {
		dir   string
		most  int64
		check func(path string, data []byte) error
	}{{"examples", mostExample, checkExample}, {"certificates", certify.Longest, checkCertificate}} {
		files, err := j.Root.Files(of.dir, ".json")
		if err != nil {
			return nil, err
		}
		for _, p := range files {
			data, err := strict.ReadUpTo(p, of.most)
			if err == nil {
				err = of.check(p, data)
			}
			if err != nil {
				fault(p, err)
			}
		}
	}
	_, more, err := Calibrations(j.Root)
	return append(faults, more...), err
}

func checkExample(_ string, data []byte) error {
	if err := strict.CheckJSON(data); err != nil {
		return err
	}
	if printedAt(data) == [2]string{} {
		return errors.New("neither started_at nor date says when it was printed")
	}
	return nil
}

func checkCertificate(path string, data []byte) error {
	of, err := certify.Read(data)
	if err == nil && filepath.Base(path) != of.Number+".json" {
		err = fmt.Errorf("/number: %s; the file is to be called so", of.Number)
	}
	return err
}

// mostCalibration is the limit in bytes of a file of data/calibration: a pair has 300.
const mostCalibration = 1 << 20

// Calibrations reads how often comparisons of a known truth were right.
func Calibrations(root journal.Root) (all []*calibration.File, faults []Fault, err error) {
	files, err := root.Files("calibration", ".json")
	for _, path := range files {
		data, err := strict.ReadUpTo(path, mostCalibration)
		var f *calibration.File
		if err == nil {
			f, err = calibration.Read(path, data)
		}
		if err != nil {
			faults = append(faults, faultOf(root, path, err))
			continue
		}
		all = append(all, f)
	}
	return all, faults, err
}
