// A built site on loopback, under the path that it is published at.
import { createServer } from 'node:http'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { extname, join, normalize } from 'node:path'

const base = '/line-rate'
const types = { '.html': 'text/html; charset=utf-8', '.css': 'text/css', '.svg': 'image/svg+xml', '.json': 'application/json', '.csv': 'text/csv', '.xml': 'application/xml', '.txt': 'text/plain', '.toml': 'text/plain', '.bib': 'text/plain', '.png': 'image/png', '.ico': 'image/x-icon', '.js': 'text/javascript', '.woff2': 'font/woff2' }

// serve gives the site's origin, its path, where a path of it lies on disk ('' if
// nowhere), and how to end it.
export async function serve (root) {
  const locate = (path) => {
    if (path !== base && !path.startsWith(base + '/')) return ''
    let file = normalize(join(root, decodeURIComponent(path.slice(base.length))))
    if (existsSync(file) && statSync(file).isDirectory()) file = join(file, 'index.html')
    return existsSync(file) ? file : ''
  }
  const server = createServer((req, res) => {
    const file = locate(new URL(req.url, 'http://x').pathname)
    if (!file) { res.writeHead(404).end('not found'); return }
    // The pages carry the address without a port that they were built with.
    let body = readFileSync(file)
    if (/\.(html|xml)$/.test(file)) body = Buffer.from(body.toString().replaceAll('http://127.0.0.1/', `http://127.0.0.1:${server.address().port}/`))
    res.writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream' }).end(body)
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { base, locate, origin: `http://127.0.0.1:${server.address().port}`, close: () => server.close() }
}
