// Package route names what the lab's servers answer: the paths, and what is known of each
// without making its bodies, which package catalog does.
package route

// A Route is a path that the lab's servers answer.
type Route struct {
	Path string
	// About says what it answers in a few words, for help and lists.
	About string
	// Encoding is the answer's Content-Encoding; empty: none. A server sends it whether or not the
	// request accepts it, since a load generator's requests do not.
	Encoding string
	// Null reports whether the null server has the route too. Of several bodies it always
	// sends the one whose length is nearest the mean.
	Null bool
	// Printed is the mean length of the body in bytes that the series printed; 0: none.
	// Within is by how much two sets of products may differ from it, as a share.
	Printed, Within float64
}

// The routes.
var (
	Simple = Route{Path: "/simple", About: "a fixed 16-byte object", Null: true, Printed: 16, Within: 0.01}
	Read   = Route{Path: "/read", About: "one product of 500, near 4.5 kB", Null: true, Printed: 4522, Within: 0.02}
	ReadGz = Route{Path: "/read-gz", About: "the same products, compressed once in each process, near 1.8 kB",
		Encoding: "gzip", Printed: 2289, Within: 0.02}
	List    = Route{Path: "/list", About: "a batch of 20 to 30 products, near 115 kB"}
	Compute = Route{Path: "/compute", About: "an aggregate over 100 products, computed for each request"}
)

// All lists the routes.
func All() []Route { return []Route{Simple, Read, ReadGz, List, Compute} }

// Paths lists the paths of the server under test, or those that the null server has too.
func Paths(null bool) (paths []string) {
	for _, r := range All() {
		if r.Null || !null {
			paths = append(paths, r.Path)
		}
	}
	return paths
}
