package profiles

import "testing"

func TestGroups(t *testing.T) {
	for _, c := range []struct {
		symbol string
		caller Group
		want   Group
	}{
		{"runtime.gcBgMarkWorker", GroupRuntime, GroupGC},
		{"runtime.memmove", GroupGC, GroupGC},
		{"runtime.memmove", GroupHandler, GroupRuntime},
		{"runtime.mallocgc", GroupHandler, GroupRuntime},
		{"runtime.gcount", GroupRest, GroupRuntime},
		{"runtime.futex", GroupRuntime, GroupSyscall},
		{"internal/runtime/syscall/linux.Syscall6", GroupSyscall, GroupSyscall},
		{"syscall.write", GroupHTTP, GroupSyscall},
		{"net/http.(*conn).serve", GroupRuntime, GroupHTTP},
		{"github.com/gofiber/fiber/v3.(*App).next", GroupHTTP, GroupHTTP},
		{"main.read", GroupHTTP, GroupHandler},
		{"github.com/line-rate/line-rate/lab/server/catalog.(*Pool).Next", GroupHTTP, GroupHandler},
		{"netip.Parse", GroupHandler, GroupRest}, // no package of net
		{"mainframe.Run", GroupRest, GroupRest},
		{"encoding/json.Marshal", GroupHandler, GroupRest},
		{"memeqbody", GroupHTTP, GroupRuntime}, // assembly has no package in its name
		{"gcWriteBarrier", GroupHandler, GroupGC},
		{"runtime._GC", GroupRest, GroupGC},
		{NoSymbol, GroupHTTP, GroupRest},
	} {
		if got := GroupOf(c.symbol, c.caller); got != c.want {
			t.Errorf("%s called from %s is %s, want %s", c.symbol, c.caller, got, c.want)
		}
	}
}
