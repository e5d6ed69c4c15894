package program

import "testing"

func TestAddr(t *testing.T) {
	for v, want := range map[string]string{
		"127.0.0.1:8083": "127.0.0.1:8083", "127.1.2.3:0": "127.1.2.3:0", "[::1]:1": "[::1]:1",
		"[::ffff:127.0.0.1]:1": "[::ffff:127.0.0.1]:1", "localhost:80": "127.0.0.1:80",
		"6060": "", "10.0.0.1:6060": "", "128.0.0.1:6060": "", "localhost.example.com:6060": "", "[::ffff:10.0.0.1]:6060": "",
		"127.1:6060": "", "127.0.0.1:x": "",
		"": "", ":8083": "", "0.0.0.0:1": "", "[::]:1": "", "192.0.2.1:1": "", "example.org:1": "",
		"127.0.0.1": "", "127.0.0.1:http": "", "127.0.0.1:65536": "", "::1:1": "",
		"8083": "", "128.0.0.1:1": "", "[::ffff:192.0.2.1]:1": "", "localhost.example.com:1": "", "127.1:1": "",
	} {
		if got, ok := LoopbackAddr(v); ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q, %v", v, got, ok)
		}
	}
}

func TestURL(t *testing.T) {
	for v, want := range map[string]bool{
		"http://127.0.0.1:1/": true, "http://localhost:80": true, "http://[::1]:1/x": true,
		"": false, "http://127.0.0.1/": false, "https://127.0.0.1:1/": false, "http://192.0.2.1:1/": false,
		"http://u@127.0.0.1:1/": false, "127.0.0.1:1": false, "http://127.0.0.1:1:2/": false,
	} {
		if LoopbackURL(v) != want {
			t.Errorf("%q", v)
		}
	}
}
