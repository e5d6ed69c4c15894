package profiles

import "slices"

// A KindDoc has the words of a kind of profile for pages.
type KindDoc struct {
	Kind Kind   `json:"kind"`
	Name string `json:"name"` // "CPU profile"
	Of   string `json:"of"`   // what its values are of: "CPU time"
	Per  string `json:"per"`  // what the width of a frame stands for: "time"
}

// KindDocs returns the words of all kinds, in the order of Kinds.
func KindDocs() []KindDoc {
	return []KindDoc{
		{CPU, "CPU profile", "CPU time", "time"},
		{Mutex, "mutex profile", "waiting for locks, told at who held them", "time"},
		{Block, "block profile", "time blocked", "time"},
		{Heap, "heap profile", "live memory", "bytes"},
		{Goroutine, "goroutine profile", "goroutines", "goroutines"},
		{Allocs, "profile of allocations", "memory allocated", "bytes"},
	}
}

// Doc returns the words of one kind.
func (k Kind) Doc() KindDoc {
	all := KindDocs()
	return all[slices.IndexFunc(all, func(d KindDoc) bool { return d.Kind == k })]
}
