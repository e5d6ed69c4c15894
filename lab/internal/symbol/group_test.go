package symbol

import "testing"

func TestGroups(t *testing.T) {
	for _, c := range []struct {
		symbol string
		caller Group
		want   Group
	}{
		{"runtime.gcBgMarkWorker", Runtime, GC},
		{"runtime.memmove", GC, GC},
		{"runtime.memmove", Handler, Runtime},
		{"runtime.mallocgc", Handler, Runtime},
		{"runtime.gcount", Rest, Runtime},
		{"runtime.futex", Runtime, Syscall},
		{"internal/runtime/syscall/linux.Syscall6", Syscall, Syscall},
		{"syscall.write", HTTP, Syscall},
		{"net/http.(*conn).serve", Runtime, HTTP},
		{"github.com/gofiber/fiber/v3.(*App).next", HTTP, HTTP},
		{"main.read", HTTP, Handler},
		{"github.com/line-rate/line-rate/lab/server/catalog.(*Pool).Next", HTTP, Handler},
		{"netip.Parse", Handler, Rest}, // not a package of net
		{"mainframe.Run", Rest, Rest},
		{"encoding/json.Marshal", Handler, Rest},
		{"memeqbody", HTTP, Runtime}, // assembly has no package in its name
		{"gcWriteBarrier", Handler, GC},
		{"runtime._GC", Rest, GC},
		{None, HTTP, Rest},
	} {
		if got := GroupOf(c.symbol, c.caller); got != c.want {
			t.Errorf("%s called from %s is %s, want %s", c.symbol, c.caller, got, c.want)
		}
	}
}
