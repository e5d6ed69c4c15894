package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A config is what the configuration of nginx depends on.
type config struct {
	addr, bodies, work, user string
	root                     bool // whether nginx is started as root
	workers, pid             int
	files                    uint64 // how many files a process may have open
}

// text is nginx's configuration. Its documentation is followed where it says how to be
// fast, and its limits are set so high that a trial does not meet them: by default nginx
// closes a connection after a thousand requests.
func (c config) text() ([]byte, error) {
	simple, err := c.body("simple.jsonl")
	if err != nil {
		return nil, err
	}
	read, err := c.body("read-middle.jsonl")
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if c.root {
		// Otherwise the workers would change to a user that does not exist where the lab
		// has a namespace of users of its own.
		fmt.Fprintf(&b, "user %s;\n", c.user)
	}
	fmt.Fprintf(&b, `daemon off;
worker_processes %d;
pid nginx-%d.pid;
error_log stderr error;
events { worker_connections 16384; }
worker_rlimit_nofile %d;
http {
  access_log off;
  server_tokens off;
  default_type application/json;
  keepalive_requests 1000000000;
  keepalive_time 24h;
  keepalive_timeout 1h;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  server {
    listen %s;
    location = /simple { return 200 %s; }
    location = /read {
`, c.workers, c.pid, c.files, c.addr, quoted(simple))
	// A word of the configuration may have 4,096 bytes.
	var names string
	for i := 0; len(read) > 0; i++ {
		n := min(len(read), 2048)
		fmt.Fprintf(&b, "      set $part%d %s;\n", i, quoted(read[:n]))
		names += fmt.Sprintf("${part%d}", i)
		read = read[n:]
	}
	fmt.Fprintf(&b, `      return 200 %s;
    }
    location / { return 404 '{"error":"no such route"}'; }
  }
}
`, names)
	return b.Bytes(), nil
}

func (c config) body(file string) (string, error) {
	path := filepath.Join(c.bodies, file)
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("--bodies: %w; make peers writes the bodies", err)
	}
	if bytes.ContainsRune(text, '$') {
		return "", fmt.Errorf("%s: nginx would take the dollar for the name of a variable", path)
	}
	return strings.TrimSuffix(string(text), "\n"), nil
}

// quoted writes text as a word of the configuration.
func quoted(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
}
