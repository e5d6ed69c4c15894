package telemetry

import (
	"os"
	"strconv"
)

// openFiles counts a process's open files, connections among them.
func openFiles(pid int) (n int, ok bool) {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd"
	// Since Linux 6.2 the directory's size is the number of open files, so ten
	// thousand connections need not be listed.
	if st, err := os.Stat(dir); err == nil && st.Size() > 0 {
		return int(st.Size()), true
	}
	f, err := os.Open(dir)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	return len(names), err == nil
}

// files counts the open files of each of the servers' own processes.
func (s *Sampler) files(all map[int]stat) map[int]int {
	out := map[int]int{}
	for _, f := range s.found {
		for _, m := range f.server {
			if all[m.pid].name != s.targets.ServerName && s.targets.ServerName != "" {
				continue
			}
			if n, ok := openFiles(m.pid); ok {
				out[m.pid] = n
			}
		}
	}
	return out
}

// serving counts the workers that held a connection: those with more files open
// in some survey of the window than before the client was started. CPU time
// does not tell a worker with a single connection at a low rate from one that
// has none and wakes up now and then. ok is false where there are no workers,
// or a worker's files could not be read.
func serving(began *survey, found []*survey, workers []process, master int) (n int, ok bool) {
	if began == nil || len(found) == 0 {
		return 0, false
	}
	for _, p := range workers {
		if p.pid == master {
			continue
		}
		before, there := began.files[p.pid]
		if !there {
			return 0, false
		}
		seen, more := false, false
		for _, v := range found {
			now, there := v.files[p.pid]
			seen, more = seen || there, more || now > before
		}
		if !seen {
			return 0, false
		}
		ok = true
		if more {
			n++
		}
	}
	return n, ok
}
