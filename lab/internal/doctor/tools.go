package doctor

import (
	_ "embed"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A tool is a program that the lab calls; looks.toml says what its fields mean.
type tool struct {
	Name, Path, Means, Mend string
	Level                   Level
}

//go:embed looks.toml
var text []byte

// looks has what is looked for, in this order.
var looks = strict.Embedded[struct {
	Programs, Tools []tool
	Denials         []struct{ Name, Denies, Mend string }
	Disturbances    []struct{ Gate, About, None, Mend string }
}](text)

// programs searches for the programs that the lab calls. Those of others that are present share
// one line.
func (m Machine) programs() []Finding {
	var fs []Finding
	for _, p := range looks.Programs {
		f := Finding{Level: Good, About: p.Name, Seen: "present"}
		if _, err := os.Stat(filepath.Join(m.Root, p.Path)); err != nil {
			f = Finding{Level: Fault, About: p.Name, Seen: "missing", Means: p.Means, Mend: p.Mend}
		}
		fs = append(fs, f)
	}
	var present []string
	for _, t := range looks.Tools {
		if _, err := exec.LookPath(t.Name); err == nil {
			present = append(present, t.Name)
			continue
		}
		f := Finding{Level: t.Level, About: t.Name, Seen: "missing", Means: t.Means, Mend: t.Mend}
		fs = append(fs, f)
	}
	fs = append(fs, Finding{Level: Good, About: "tools", Seen: join(present)})
	return append(fs, m.servers()...)
}

// servers names the servers of experiments that lack a tool or a program here.
func (m Machine) servers() (fs []Finding) {
	all := map[string]*Finding{}
	for _, x := range m.Experiments {
		for _, absent := range x.Lacking(m.Root) {
			f := all[absent.Server]
			if f == nil {
				f = &Finding{Level: Limit, About: "the " + absent.Server + " server", Seen: "lacking " + absent.What,
					Mend: absent.Mend}
				all[absent.Server] = f
			}
			// The others are measured without it, if there are enough of them.
			_, left := x.Present(m.Root)
			for _, c := range x.Claims {
				if len(left) == 0 || x.About(c, setting.Levels{setting.Server: setting.String(absent.Server)}) {
					f.Bars = true
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		f := all[name]
		f.Means = "claims about it are not applicable"
		if !f.Bars {
			f.Level, f.Means = Good, "no claim so far is about it"
		}
		fs = append(fs, *f)
	}
	return fs
}

func join(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
