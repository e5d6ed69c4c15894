package doctor

import (
	"github.com/line-rate/line-rate/lab/internal/tune"
)

// turned names kernel settings that something turned and nothing has restored. The
// service that was stopped is no fault: designs need it stopped.
func (m Machine) turned() (fs []Finding) {
	for _, l := range m.Left {
		f := Finding{Level: Fault, About: "settings", Seen: l.String(), Means: "a run refuses to begin with it",
			Mend: Restore}
		switch {
		case l.Service:
			f.Level, f.Means = Good, ""
		case l.By == tune.Orphan:
			f.Level, f.Means = Limit, "the next run restores it, where it may"
		case l.By == tune.Held:
			f.Mend = ""
		}
		fs = append(fs, f)
	}
	return fs
}

// Restore is the command that turns every setting back.
const Restore = "sudo .tools/bin/lab tune restore"
