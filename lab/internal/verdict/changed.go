package verdict

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// changed names what was not the same on the machine in all of some runs: the
// kernel, its settings, the memory, the versions of tools. These belong to a run,
// and blocks are added up over them. What a run did not record is not compared.
func changed(runs []*source) string {
	seen := map[string][]string{}
	note := func(what, v string) {
		if v != "" && !slices.Contains(seen[what], v) {
			seen[what] = append(seen[what], v)
		}
	}
	for _, s := range runs {
		p := s.Provenance
		for name, v := range p.Kernel {
			if name == "osrelease" {
				name = "" // before all others
			}
			note(name, v)
		}
		if p.MemoryBytes > 0 {
			note("memory", strconv.FormatInt(p.MemoryBytes>>30, 10)+" GiB")
		}
		for name, v := range p.Tools {
			if name != setting.HTTPLoad { // its version tells designs apart
				note(name, v)
			}
		}
	}
	var out []string
	for _, what := range slices.Sorted(maps.Keys(seen)) {
		if v := seen[what]; len(v) > 1 {
			out = append(out, fmt.Sprintf("%s %s", cmp.Or(what, "kernel"), words.List(v)))
		}
	}
	const most = 5
	if n := len(out) - most; n > 0 {
		out = append(out[:most], fmt.Sprintf("and %d more", n))
	}
	return strings.Join(out, "; ")
}
