package telemetry

import "github.com/prometheus/procfs"

// Forks is how many threads and processes this machine has started since it was booted; 0 if
// the kernel does not tell.
func Forks() int64 {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return 0
	}
	stat, _ := fs.Stat()
	return int64(stat.ProcessCreated)
}
