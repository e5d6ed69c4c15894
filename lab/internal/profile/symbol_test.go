package profile

import (
	"slices"
	"testing"

	pprof "github.com/google/pprof/profile"
)

// Names from profiles of this repository's servers, and of programs with the named modules.
func TestPackage(t *testing.T) {
	for _, c := range []struct{ symbol, path, key string }{
		// The standard library counts by import path.
		{"net/http.(*Server).Serve.gowrap3", "net/http", "net/http"},
		{"net/http.glob..func1", "net/http", "net/http"},
		{"net/http/pprof.handler.serveDeltaProfile", "net/http/pprof", "net/http/pprof"},
		{"internal/runtime/syscall/linux.Syscall6", "internal/runtime/syscall/linux", "internal/runtime/syscall/linux"},
		{"runtime.gcMarkDone.forEachP.func5", "runtime", "runtime"},
		{"math/rand/v2.(*PCG).Uint64", "math/rand/v2", "math/rand/v2"},

		// Type arguments have paths of their own.
		{"slices.SortFunc[...]", "slices", "slices"},
		{"slices.pdqsortCmpFunc[go.shape.struct { github.com/line-rate/line-rate/lab/server/catalog.Price " +
			"github.com/line-rate/line-rate/lab/server/catalog.Cents; Brand string }]", "slices", "slices"},
		{"github.com/gofiber/utils/v2.Trim[go.shape.[]uint8].func1", "github.com/gofiber/utils/v2", "github.com/gofiber/utils"},

		// Modules count by three parts of their path, without the major version.
		{"github.com/brianvoe/gofakeit/v7/data.map.init.31", "github.com/brianvoe/gofakeit/v7/data", "github.com/brianvoe/gofakeit"},
		{"github.com/brianvoe/gofakeit/v6.(*lockedSource).Int63", "github.com/brianvoe/gofakeit/v6", "github.com/brianvoe/gofakeit"},
		{"github.com/valyala/fasthttp/reuseport.Listen", "github.com/valyala/fasthttp/reuseport", "github.com/valyala/fasthttp"},
		{"github.com/valyala/fasthttp.(*Server).serveConn-fm", "github.com/valyala/fasthttp", "github.com/valyala/fasthttp"},
		{"go.yaml.in/yaml/v4.Load", "go.yaml.in/yaml/v4", "go.yaml.in/yaml"},
		{"github.com/a/b%2ego.F", "github.com/a/b.go", "github.com/a/b.go"},
		{"golang.org/x/sys/unix.Write", "golang.org/x/sys/unix", "golang.org/x/sys"},
		{"fortio.org/fortio/fhttp.(*FastClient).Fetch", "fortio.org/fortio/fhttp", "fortio.org/fortio/fhttp"},

		// The standard library's own vendored modules, and a program's.
		{"vendor/golang.org/x/net/http/httpguts.ValidHeaderFieldName", "golang.org/x/net/http/httpguts", "golang.org/x/net"},
		{"example.com/app/vendor/github.com/valyala/fasthttp.Serve", "github.com/valyala/fasthttp", "github.com/valyala/fasthttp"},

		// This repository, whose servers are main packages.
		{"main.(*service).routes.func2", "main", Repository},
		{Repository + "/lab/server/catalog.Faker.Next", Repository + "/lab/server/catalog", Repository},
		{Repository + "/lab/servers/floor/request.(*Request).Read", Repository + "/lab/servers/floor/request", Repository},
		// As published profiles have it.
		{Repository + "/lab/floor/request.(*Request).Read", Repository + "/lab/floor/request", Repository},

		// Names without a package, and those made by the compiler.
		{"aeshashbody", "runtime", "runtime"},
		{"type:.eq.github.com/brianvoe/gofakeit/v7.Info", "github.com/brianvoe/gofakeit/v7", "github.com/brianvoe/gofakeit"},
		{"type:.hash.[2]string", "runtime", "runtime"},
		{"type:.eq.struct { F uintptr; X0 net/http.Handler }", "runtime", "runtime"},
		{"type..eq.main.key", "main", Repository},
		{"go:struct { F uintptr }", "runtime", "runtime"},
		{"go:main.inittasks", "main", Repository},
		{NoSymbol, NoSymbol, NoSymbol},
		{"", NoSymbol, NoSymbol},
	} {
		if got := PathOf(c.symbol); got != c.path {
			t.Errorf("%s is of %q, want %q", c.symbol, got, c.path)
		}
		if got := PackageOf(c.symbol); got != c.key {
			t.Errorf("%s counts for %q, want %q", c.symbol, got, c.key)
		}
	}
}

func TestStackIsFromTheCallerDownWithInlinedCalls(t *testing.T) {
	name := func(s string) *pprof.Function { return &pprof.Function{Name: s} }
	s := &pprof.Sample{Location: []*pprof.Location{
		{Line: []pprof.Line{{Function: name("inner")}, {Function: name("outer")}}},
		{},
		{Line: []pprof.Line{{Function: name("")}, {Function: name("")}}},
		{Line: []pprof.Line{{Function: name("main.main")}}},
	}}
	if got, want := StackOf(s), []string{"main.main", NoSymbol, NoSymbol, NoSymbol, "outer", "inner"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
