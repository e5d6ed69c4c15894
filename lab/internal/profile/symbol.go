package profile

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strings"

	pprof "github.com/google/pprof/profile"
)

// NoSymbol names a frame without a symbol, and the package of such a frame. If it is in a profile, nothing is known to be
// absent from that profile.
const NoSymbol = "[no symbol]"

// Repository is the package key of this repository's code. Its servers' package is "main" in symbols and counts as it.
const Repository = "github.com/line-rate/line-rate"

// StackOf gives a sample's symbols from the outermost call to the innermost. A location with inlined calls has several,
// innermost first.
func StackOf(s *pprof.Sample) (stack []string) {
	for _, l := range slices.Backward(s.Location) {
		if len(l.Line) == 0 {
			stack = append(stack, NoSymbol)
		}
		for _, line := range slices.Backward(l.Line) {
			stack = append(stack, cmp.Or(line.Function.Name, NoSymbol))
		}
	}
	return stack
}

// generated has the prefixes of functions that the compiler makes for a type, to compare and to hash it.
var generated = []string{"type:.eq.", "type:.hash.", "type..eq.", "type..hash.", "go:"}

// PathOf gives the import path of a symbol's package. A function made for a type belongs to the type's package. Names
// without a package belong to the runtime, since only assembly of the standard library has such names.
func PathOf(symbol string) string {
	if symbol == NoSymbol || symbol == "" {
		return NoSymbol
	}
	for _, prefix := range generated {
		symbol = strings.TrimPrefix(symbol, prefix)
	}
	// Type arguments have paths of their own, with slashes and dots, and so has an unnamed type.
	symbol, _, _ = strings.Cut(symbol, "[")
	if strings.ContainsAny(symbol, " {") {
		return "runtime"
	}
	slash := strings.LastIndexByte(symbol, '/')
	dot := strings.IndexByte(symbol[slash+1:], '.')
	switch {
	case slash < 0 && dot <= 0:
		return "runtime"
	case dot >= 0:
		symbol = symbol[:slash+1+dot]
	}
	// The linker writes the dots in a path's last part as %2e, so that the first dot there ends the path.
	path, _ := url.PathUnescape(symbol) // empty if what follows a % is no number
	if at := strings.LastIndex("/"+path, "/vendor/"); at >= 0 {
		path = path[at+len("vendor/"):]
	}
	return cmp.Or(path, symbol)
}

// major is the part of a path that is a major version.
var major = regexp.MustCompile(`^v[0-9]+$`)

// PackageOf gives the key of a share: the import path for the standard library, else its first
// three parts without a major version. So "github.com/brianvoe/gofakeit" is one package over v6, v7
// and their subpackages.
func PackageOf(symbol string) string {
	path := PathOf(symbol)
	parts := strings.Split(path, "/")
	switch {
	case path == "main":
		return Repository
	case !strings.Contains(parts[0], "."):
		return path // the standard library has no host
	}
	parts = parts[:min(3, len(parts))]
	if last := len(parts) - 1; major.MatchString(parts[last]) {
		parts = parts[:last]
	}
	return strings.Join(parts, "/")
}
