package tune

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/machine"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// Values are the settings that the knobs can turn, as they are now: for each, the
// different values that the queues and interrupts of all interfaces have. They name
// no interface. The files are below root: "/", except in tests.
func Values(root string) map[string]string {
	m := &system{tree: strings.TrimSuffix(root, "/")}
	set := map[string]string{}
	var interrupts []string
	rx, tx := 0, 0
	for _, device := range m.glob(netDir + "*/device") { // a card's, or one made for a virtual machine
		dev := path.Base(path.Dir(device))
		rx += len(m.glob(netDir + dev + "/queues/rx-*"))
		tx += len(m.glob(netDir + dev + "/queues/tx-*"))
		interrupts = append(interrupts, strict.Map(m.messages(dev), affinity)...)
	}
	if rx+tx > 0 {
		set["queues"] = fmt.Sprintf("rx %d tx %d", rx, tx)
	}
	for _, k := range knobs {
		if k.services != nil {
			set[k.name] = map[bool]string{true: "runs", false: "does not run"}[k.running(m) != ""]
			continue
		}
		files := interrupts
		if k.file != affinityFile {
			files = m.glob(netDir + "*/queues/rx-*/" + k.file)
		}
		seen := strict.Collect(files, func(file string) string { return machine.Read(root, file) })
		if delete(seen, ""); len(seen) > 0 {
			set[k.file] = strings.Join(slices.Sorted(maps.Keys(seen)), "; ")
		}
	}
	return set
}
