package catalog

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/line-rate/line-rate/lab/server/route"
)

// A Route is a path that the lab's servers answer, with how its bodies come about. The servers
// serve it, the load generator and the comparison of answers check it, and the audit takes its
// sizes from here. A new route is a new row in package route and in [Routes].
//
// Exactly one of Fixed, Body and Make is set.
type Route struct {
	route.Route
	// Fixed is a body that is always the same.
	Fixed []byte
	// Body is one of Count bodies that a pool keeps. It takes the index of a product, so
	// an index that is uniform over the products must be uniform over the bodies.
	Body  func(p *Pool, product int) []byte
	Count int
	// Make makes a body for each request. Package answer has the conditions that it must
	// meet.
	Make func(*Pool, Source) ([]byte, error)
}

// ContentType is the content type of every answer. It has no charset parameter, as in the
// published runs.
const ContentType = "application/json"

// Routes lists the routes.
func Routes() []Route { return slices.Clone(routes) }

var routes = []Route{
	{Route: route.Simple, Fixed: []byte(Simple)},
	{Route: route.Read, Body: (*Pool).Body, Count: Size},
	{Route: route.ReadGz, Body: (*Pool).Compressed, Count: Size},
	{Route: route.List, Body: (*Pool).Batch, Count: Batches},
	{Route: route.Compute, Make: summarise},
}

// RouteOf finds a route by its path.
func RouteOf(path string) (Route, bool) {
	i := slices.IndexFunc(routes, func(r Route) bool { return r.Path == path })
	if i < 0 {
		return Route{}, false
	}
	return routes[i], true
}

// Head is the length in bytes of the head that every server of the lab sends with a body
// of that length and the status 200. It has a status line, date, content type, content
// length and the empty line, and a content encoding where there is one.
func (r Route) Head(body int) int {
	const plain = len("HTTP/1.1 200 OK\r\nDate: Mon, 02 Jan 2006 15:04:05 GMT\r\nContent-Type: " + ContentType +
		"\r\nContent-Length: \r\n\r\n")
	n := plain + len(strconv.Itoa(body))
	if r.Encoding != "" {
		n += len("Content-Encoding: \r\n") + len(r.Encoding)
	}
	return n
}

// Middle returns the body whose length is nearest the mean. The route must not be a
// computed one.
func (r Route) Middle(p *Pool) []byte {
	if r.Fixed != nil {
		return r.Fixed
	}
	var bodies [][]byte
	sum := 0.0
	for i := range r.Count {
		bodies = append(bodies, r.Body(p, i))
		sum += float64(len(bodies[i]))
	}
	off := func(b []byte) float64 { return math.Abs(float64(len(b)) - sum/float64(r.Count)) }
	return slices.MinFunc(bodies, func(a, b []byte) int { return cmp.Compare(off(a), off(b)) })
}

func summarise(p *Pool, src Source) ([]byte, error) {
	at := make([]int, Sample)
	src.Fill(at)
	items := make([]Item, len(at))
	for i, n := range at {
		items[i] = p.Item(n)
	}
	return json.Marshal(Summarise(items))
}
