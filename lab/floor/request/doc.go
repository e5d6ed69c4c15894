// Package request reads HTTP/1.1 requests as a server that only answers GET and HEAD needs
// them: what is asked for, where the request ends, and whether the connection lasts. It
// follows RFC 9110 and 9112.
//
// Where the RFCs let a server repair a request or refuse it, this package refuses: two
// parties that repair differently can be made to see different requests in the same bytes.
// So each line ends with CR LF, a length is said once, and a body has either a length or
// chunks.
//
// What is read depends only on the bytes and not on how they are cut into packets. Nothing
// is allocated for a request.
//
// Limits: bodies are dropped, fields other than those that frame a message are checked and
// ignored, and of the transfer codings only chunked is known. A scheme, a host and a query
// are checked for their characters and then ignored: the server has one set of routes.
package request

// Limits bound what a client can make the server hold or read.
type Limits struct {
	Head   int   // bytes of a head, with its empty line; of a body's trailers too
	Fields int   // lines of a head after its first
	Body   int64 // bytes of a body, without the framing of its chunks
}

// A Method is a request's method, as far as the server tells them apart.
type Method uint8

// The methods. Other is one that RFC 9110 or 5789 knows and the server has no use for;
// Unknown is any other token.
const (
	Unknown Method = iota
	Get
	Head
	Options
	Connect
	Other
)

// A Request is a head, without its fields.
type Request struct {
	Method Method
	// Path is the path of the target, its escapes decoded; "*" for the server as a whole,
	// empty for CONNECT. It is valid until the next head is read.
	Path []byte
	// Length is the length of the body in bytes. It is 0 if the body is Chunked.
	Length  int64
	Chunked bool
	// Close says that the connection ends with the answer, KeepAlive that the answer has to
	// say that it does not, which it must to a client of HTTP/1.0.
	Close, KeepAlive bool
	// Continue says that the client waits for an interim answer before it sends its body.
	Continue bool
}

// Body tells whether a body follows the head.
func (r *Request) Body() bool { return r.Chunked || r.Length > 0 }
