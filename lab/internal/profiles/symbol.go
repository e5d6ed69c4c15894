package profiles

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
)

// NoSymbol names a frame without a symbol, and the package of such a frame. If it
// is in a profile, nothing is known to be absent from that profile.
const NoSymbol = "[no symbol]"

// Repository is the package key of this repository's code. Its servers' package
// is "main" in symbols and counts as it.
const Repository = "github.com/line-rate/line-rate"

// StackOf gives a sample's symbols from the outermost call to the innermost. A
// location with inlined calls has several, innermost first.
func StackOf(s *profile.Sample) []string {
	var out []string
	for _, l := range slices.Backward(s.Location) {
		if len(l.Line) == 0 {
			out = append(out, NoSymbol)
		}
		for _, line := range slices.Backward(l.Line) {
			if line.Function == nil || line.Function.Name == "" {
				out = append(out, NoSymbol)
				continue
			}
			out = append(out, line.Function.Name)
		}
	}
	return out
}

// generated has the prefixes of functions that the compiler makes for a type,
// to compare and to hash it.
var generated = []string{"type:.eq.", "type:.hash.", "type..eq.", "type..hash.", "go:"}

// bare tells whether a symbol has no package in its name, as in the runtime's
// assembly ("aeshashbody", "gogo").
func bare(symbol string) bool {
	return symbol != NoSymbol && !strings.ContainsAny(symbol, "./:")
}

// PathOf gives the import path of a symbol's package. A function made for a type
// belongs to the type's package. Names without a package belong to the runtime,
// since only assembly of the standard library has such names.
func PathOf(symbol string) string {
	if symbol == NoSymbol || symbol == "" {
		return NoSymbol
	}
	for _, prefix := range generated {
		symbol = strings.TrimPrefix(symbol, prefix)
	}
	// Type arguments have paths of their own, with slashes and dots.
	symbol, _, _ = strings.Cut(symbol, "[")
	// An unnamed type has them too: "type:.eq.struct { F uintptr; … }".
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
	path, err := url.PathUnescape(symbol)
	if err != nil {
		path = symbol
	}
	if at := strings.LastIndex(path, "/vendor/"); at >= 0 {
		path = path[at+len("/vendor/"):]
	}
	return strings.TrimPrefix(path, "vendor/")
}

// PackageOf gives the key by which shares are kept: the import path for the
// standard library, else the module's root without its major version, so that
// "github.com/brianvoe/gofakeit" is one package over v6, v7 and their
// subpackages.
func PackageOf(symbol string) string {
	path := PathOf(symbol)
	if path == "main" || path == "" {
		return Repository
	}
	parts := strings.Split(path, "/")
	if !strings.Contains(parts[0], ".") || path == NoSymbol {
		return path // the standard library has no host
	}
	// On hosts with many owners the root has three parts; on a host of one owner
	// the repository is the second part.
	n := 2
	if slices.Contains([]string{"github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "golang.org", "git.sr.ht"},
		parts[0]) {
		n = 3
	}
	// gopkg.in has the version after a dot, in the second part or the third.
	if parts[0] == "gopkg.in" {
		if len(parts) > 2 && !dotted.MatchString(parts[1]) {
			n = 3
		}
		for i := range min(n, len(parts)) {
			parts[i] = dotted.ReplaceAllString(parts[i], "$1")
		}
	}
	parts = parts[:min(n, len(parts))]
	if last := len(parts) - 1; last > 0 && major.MatchString(parts[last]) {
		parts = parts[:last]
	}
	return strings.Join(parts, "/")
}

var (
	// major is a part of a path that is a major version.
	major = regexp.MustCompile(`^v[0-9]+$`)
	// dotted is one that ends with a major version.
	dotted = regexp.MustCompile(`^(.+)\.v[0-9]+$`)
)
