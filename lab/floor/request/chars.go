package request

// The classes of bytes in a head.
const (
	inToken  = 1 << iota // names of methods and fields
	inTarget             // what a target may hold; of what RFC 3986 leaves out, only what could confuse: controls, spaces, "#" and bytes above ASCII
	inValue              // a field's value: no controls but the tab
	inHost               // an authority without user information
)

var class = func() (c [256]uint8) {
	for b := range 256 {
		switch {
		case 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z', '0' <= b && b <= '9':
			c[b] = inToken | inHost
		}
		if b > ' ' && b < 0x7f && b != '#' {
			c[b] |= inTarget
		}
		if b == '\t' || b >= ' ' && b != 0x7f {
			c[b] |= inValue
		}
	}
	for _, b := range []byte("!#$%&'*+-.^_`|~") {
		c[b] |= inToken
	}
	for _, b := range []byte("-._~!$&'()*+,;=%:[]") {
		c[b] |= inHost
	}
	return c
}()

// all tells whether every byte of text is of a class.
func all(text []byte, of uint8) bool {
	for _, b := range text {
		if class[b]&of == 0 {
			return false
		}
	}
	return true
}

// same compares a token with a word in lower case, without regard to case.
func same(token []byte, word string) bool {
	if len(token) != len(word) {
		return false
	}
	for i, b := range token {
		if 'A' <= b && b <= 'Z' {
			b |= 0x20
		}
		if b != word[i] {
			return false
		}
	}
	return true
}

func blank(b byte) bool { return b == ' ' || b == '\t' }

// trim cuts the spaces and tabs around a value.
func trim(text []byte) []byte {
	for len(text) > 0 && blank(text[0]) {
		text = text[1:]
	}
	for len(text) > 0 && blank(text[len(text)-1]) {
		text = text[:len(text)-1]
	}
	return text
}

// hex gives the value of a hexadecimal digit, or -1.
func hex(b byte) int {
	switch {
	case '0' <= b && b <= '9':
		return int(b - '0')
	case 'a' <= b|0x20 && b|0x20 <= 'f':
		return int(b|0x20-'a') + 10
	}
	return -1
}
