package results

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// ReadAll reads results files on all cores, since hundreds of them take seconds.
// It gives a file or an error for each path, in the order of the paths.
func ReadAll(paths []string) ([]*File, []error) {
	files, errs := make([]*File, len(paths)), make([]error, len(paths))
	var next atomic.Int64
	var readers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		readers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(paths); i = int(next.Add(1)) - 1 {
				files[i], errs[i] = Read(paths[i])
			}
		})
	}
	readers.Wait()
	return files, errs
}
