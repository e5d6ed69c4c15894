// Serves a built site on loopback, under the path at which it is published.
import { createServer } from 'node:http'
import { readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { host } from './site.mjs'

const types = { '.html': 'text/html; charset=utf-8', '.css': 'text/css', '.svg': 'image/svg+xml', '.json': 'application/json', '.csv': 'text/csv', '.xml': 'application/xml', '.txt': 'text/plain', '.toml': 'text/plain', '.bib': 'text/plain', '.png': 'image/png', '.ico': 'image/x-icon', '.js': 'text/javascript', '.woff2': 'font/woff2' }

// serve returns the origin of a site that open has read, and a function that ends the
// server.
export async function serve (site) {
  const server = createServer((req, res) => {
    const file = site.locate(new URL(req.url, 'http://x').pathname)
    if (!file) { res.writeHead(404).end('not found'); return }
    // The pages were built with an address without a port.
    let body = readFileSync(join(site.root, file))
    if (/\.(html|xml)$/.test(file)) body = Buffer.from(body.toString().replaceAll(`${host}/`, `${host}:${server.address().port}/`))
    res.writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream' }).end(body)
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { origin: `${host}:${server.address().port}`, close: () => server.close() }
}
