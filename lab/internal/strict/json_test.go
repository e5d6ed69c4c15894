package strict

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestAcceptsWhatIsOneDocument(t *testing.T) {
	for _, doc := range []string{
		`{}`, `[]`, `null`, `true`, `-1.5e300`, `"text"`, " \n {} \n\t ",
		`{"a":{"a":{"a":1}}}`,             // the same key at different depths
		`[{"a":1},{"a":2}]`,               // and in sibling objects
		`{"a":1,"A":2}`,                   // case matters for keys; the schema refuses one of these
		`{"a":1,"a ":2}`,                  // and so do blanks
		`{"":1,"/":2,"~1":3,"\u002f/":4}`, // pointers that look alike are different keys
	} {
		if err := DecodeJSON([]byte(doc), new(any)); err != nil {
			t.Errorf("%s: %v", doc, err)
		}
	}
}

func TestFindsKeysThatStandTwice(t *testing.T) {
	for _, c := range []struct{ name, doc, want string }{
		{"at the top", `{"a":1,"a":2}`, `line 1: /a: key "a" stands twice`},
		{"the same value", `{"a":1,"a":1}`, `line 1: /a: key "a" stands twice`},
		{"not next to each other", "{\"a\":1,\n\"b\":2,\n\"a\":3}", `line 3: /a: key "a" stands twice`},
		{"nested in an object", "{\"x\": {\n\"a\": 1,\n\"a\": 2}}", `line 3: /x/a: key "a" stands twice`},
		{"nested in a list", "[0,\n[{\"b\":1},\n{\"a\":1,\n\n\"a\":2}]]", `line 5: /1/1/a: key "a" stands twice`},
		{"one of them escaped", `{"a":1,"\u0061":2}`, `line 1: /a: key "a" stands twice`},
		{"both escaped, in two ways", `{"\/":1,"\u002F":2}`, `line 1: /~1: key "/" stands twice`},
		{"a surrogate pair and its character", `{"😀":1,"\ud83d\ude00":2}`, `line 1: /😀: key "😀" stands twice`},
		{"the empty key", `{"":1,"":2}`, `line 1: /: key "" stands twice`},
		// RFC 6901: "~" is written ~0 and "/" is ~1 in a pointer.
		{"a pointer that needs escapes", `{"a/b~c":{"k":1,"k":2}}`, `line 1: /a~1b~0c/k: key "k" stands twice`},
		{"after an object in the same object", `{"a":{"b":1},"c":[{}],"a":2}`, `line 1: /a: key "a" stands twice`},
	} {
		err := DecodeJSON([]byte(c.doc), new(any))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

func TestNamesTheLineOfASyntaxError(t *testing.T) {
	// Forty lines in front, with every kind of token: the line number counts from
	// the beginning of the file.
	var front strings.Builder
	front.WriteString("{\n")
	for i := range 39 {
		fmt.Fprintf(&front, "  \"k%d\": [%d, {\"x\": \"y\"}, null, \"a long text\"],\n", i, i)
	}
	for _, c := range []struct {
		name, doc, want string
	}{
		{"nothing", "", "line 1: the file ends in the middle"},
		{"blanks only", " \n\n ", "line 3: the file ends in the middle"},
		{"truncated in an object", "{\n\"a\": 1,\n", "line 3: the file ends in the middle"},
		{"truncated in a list", "{\n\"a\": [1,", "line 2: the file ends in the middle"},
		{"truncated in a text", "{\n\"a\": \"te", "line 2: the file ends in the middle"},
		{"truncated in a key", "{\n\"a", "line 2: the file ends in the middle"},
		{"truncated in a word", "[\ntru", "line 2: the file ends in the middle"},
		{"truncated after a colon", "{\"a\":", "line 1: the file ends in the middle"},
		{"text after it", "{}\n\n\nx", "line 4: invalid character 'x' after top-level value"},
		{"a second document", "{}\n{}", "line 2: invalid character '{' after top-level value"},
		{"a bracket too many", "{\n}\n}", "line 3: invalid character '}' after top-level value"},
		{"a comma at the end of a list", "[1,\n2,\n]", "line 2: invalid character ','"},
		{"a comma at the end of an object", "{\"a\":1,\n}", "line 1: invalid character ','"},
		{"no comma", "{\"a\":1\n\"b\":2}", "line 2: invalid character '\"'"},
		{"no colon", "{\"a\"\n5}", "line 2: invalid character '5'"},
		{"a key without quotes", "{\na: 1}", "line 2: invalid character 'a'"},
		{"single quotes", "['a']", `line 1: invalid character '\''`},
		{"a comment", "[1,\n// two\n2]", "line 2: invalid character '/'"},
		{"a leading zero", "[1,\n01]", "line 2: invalid character '1'"},
		{"NaN", "{\n\"a\": NaN}", "line 2: invalid character 'N'"},
		{"a misspelt word deep in the file", front.String() + "  \"b\": tru,\n  \"c\": 1\n}",
			"line 41: invalid character ','"},
		{"a bad escape deep in the file", front.String() + "  \"b\": \"\\q\",\n  \"c\": 1\n}",
			"line 41: invalid escape sequence `\\q` in string, in /b"},
		{"a missing colon deep in the file", front.String() + "  \"b\" 1,\n  \"c\": 1\n}", "line 41: invalid character '1'"},
		{"a line break in a text", front.String() + "  \"b\": \"x\ny\",\n  \"c\": 1\n}", "line 41: invalid character '\\n'"},
	} {
		err := DecodeJSON([]byte(c.doc), new(any))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q first", c.name, err, c.want)
		}
	}
}

// encoding/json would silently replace such bytes with U+FFFD.
func TestNamesTheLineOfWhatIsNotUTF8(t *testing.T) {
	for _, c := range []struct{ doc, want string }{
		{"{\n\"a\": \"b\xff\"}", "line 2: invalid UTF-8, in /a"},
		{"{\"a\xc3\":\n1}", "line 1: invalid UTF-8"},
		{"\n\xef\xbb", `line 2: invalid character '\xef' at start of value`},
		{"{\n\"a\": \"\\ud800\"}", "line 2: invalid surrogate pair `\\ud800\"}` in string, in /a"},
		{`["\\\uDC00\ud83d\ude00"]`, "line 1: invalid surrogate pair `\\uDC00\\ud83d` in string, in /0"},
		{`{"\ud83d\u0041": 1}`, "line 1: invalid surrogate pair `\\ud83d\\u0041` in string"},
	} {
		if err := DecodeJSON([]byte(c.doc), new(any)); err == nil || err.Error() != c.want {
			t.Errorf("%q: %v, want %s", c.doc, err, c.want)
		}
	}
	for _, doc := range []string{"\"\uFFFD é\"", `"\ud83d\ude00\\ud800 \u00e9"`} {
		if err := DecodeJSON([]byte(doc), new(any)); err != nil {
			t.Errorf("%s: %v", doc, err)
		}
	}
}

// In TOML too: the digest of an experiment's file must not depend on the machine
// that checked it out.
func TestRefusesCarriageReturns(t *testing.T) {
	var into struct {
		A int `toml:"a"`
	}
	const want = "line 2: a carriage return"
	for _, err := range []error{DecodeJSON([]byte("{\n\"a\": 1\r\n}\r\n"), new(any)), DecodeTOML([]byte("a = 1\n# x\r\n"), &into)} {
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// encoding/json refuses more than ten thousand levels; a reader without such a
// limit could run out of stack.
func TestRefusesEndlessNesting(t *testing.T) {
	for _, open := range []string{"[", `{"a":`} {
		end := map[string]string{"[": "]", `{"a":`: "}"}[open]
		doc := func(n int) []byte { return []byte(strings.Repeat(open, n) + "1" + strings.Repeat(end, n)) }
		if err := DecodeJSON(doc(10000), new(any)); err != nil {
			t.Errorf("%q: ten thousand levels: %.60v", open, err)
		}
		if err := DecodeJSON(doc(10001), new(any)); err == nil || !strings.HasPrefix(err.Error(), "line 1: ") {
			t.Errorf("%q: a level more is accepted (%.60v), but encoding/json refuses it", open, err)
		}
	}
}

func FuzzCheck(f *testing.F) {
	for _, seed := range []string{
		`{"a":1,"b":[true,null,"x"]}`, `{"a":1,"\u0061":2}`, `[1,]`, `{"a"`, `{} {}`, "\xff", `"\ud800"`,
		`{"\ud800":1,"\udc00":2}`, `1e999`, `[[[]]]`, `[ 1 , {"a" : [ ] , "b/~" : {"c\\"d":[-1.5e+3,1e999]} } ]`,
		"[1,\n{\"x\":\n1,\"x\":2}]", `{"":{},"":1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		err := DecodeJSON(data, new(any))
		if err == nil && !json.Valid(data) {
			t.Errorf("Check accepts %q, encoding/json does not", data)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "line ") {
			t.Errorf("%q: %q names no line", data, err)
		}
	})
}
