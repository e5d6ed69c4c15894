package archive

import (
	"github.com/line-rate/line-rate/lab/internal/calibration"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

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
