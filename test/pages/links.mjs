// Every address inside the site leads somewhere: links and anchors, images, style sheets
// and what those load, feeds with the text they carry, the sitemap, JSON-LD, social
// previews; and of README and other documents, on the forge. And every page can be reached from the home page. It reads all pages, without
// a browser.
//
//   links.mjs DIRECTORY
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Parser } from 'htmlparser2'
import { base, host, open, pathOf } from './site.mjs'

const site = open(process.argv[2])
const complaints = []
const ids = new Map() // file → its ids
const links = [] // from, to (URL), follow
const add = (from, to, at, follow = false) => {
  let url
  try { url = new URL(to, at) } catch { complaints.push(`${from}: ${to} is no address`); return }
  if (url.origin === host) links.push({ from, url, follow })
}

// Addresses in JSON-LD are values that begin with the site's address. An @id is a name:
// its page must exist, but the part behind # need not.
const addresses = (v, found, key) => {
  if (typeof v === 'string') { if (v.startsWith(`${host}${base}/`)) found(key === '@id' ? v.replace(/#.*/, '') : v) } else if (v && typeof v === 'object') for (const [k, x] of Object.entries(v)) addresses(x, found, k)
}

const attributes = ['href', 'src', 'poster', 'action', 'data', 'xlink:href', 'cite']
function read (from, html, at, here) {
  let json = ''
  let inJSON = false
  const parser = new Parser({
    onopentag (name, a) {
      if (a.id !== undefined) here.add(a.id)
      if (name === 'base') complaints.push(`${from}: a base element, which this check does not know`)
      for (const k of attributes) if (a[k] !== undefined) add(from, a[k], at, name === 'a')
      for (const part of (a.srcset ?? '').split(',')) if (part.trim()) add(from, part.trim().split(/\s+/)[0], at)
      if (name === 'meta' && a.content && /^(og:(url|image)|twitter:image)$/.test(a.property ?? a.name ?? '')) add(from, a.content, at)
      if (name === 'meta' && /refresh/i.test(a['http-equiv'] ?? '')) add(from, a.content.replace(/^.*?url=/i, ''), at, true)
      inJSON = name === 'script' && /json/.test(a.type ?? '')
      json = ''
    },
    ontext (t) { if (inJSON) json += t },
    onclosetag (name) {
      if (name !== 'script' || !inJSON) return
      inJSON = false
      try {
        addresses(JSON.parse(json), (v) => add(from, v, at))
      } catch (e) { complaints.push(`${from}: JSON that is none: ${e.message}`) }
    }
  })
  parser.end(html)
}

// A feed has addresses in attributes and elements, and in the pages that it carries as
// text.
function readXML (from, xml, at) {
  let element = ''
  let text = ''
  let within = at
  new Parser({
    onopentag (name, a) {
      element = name
      text = ''
      if (a['xml:base'] !== undefined) within = a['xml:base']
      if (a.href !== undefined) add(from, a.href, at)
    },
    ontext (t) { text += t },
    onclosetag (name) {
      if (name !== element) return
      if (name === 'loc' || name === 'uri' || name === 'id') { if (text.startsWith(host)) add(from, text, at) }
      if (name === 'content' || name === 'summary') { read(`${from}, its text of ${within}`, text, within, new Set()); within = at }
    }
  }, { xmlMode: true }).end(xml)
}

for (const f of site.files) {
  const at = host + pathOf(f)
  if (f.endsWith('.html')) {
    ids.set(f, new Set())
    read(pathOf(f), site.text(f), at, ids.get(f))
  } else if (f.endsWith('.xml')) {
    readXML(pathOf(f), site.text(f), at)
  } else if (f.endsWith('.css')) {
    for (const [, to] of site.text(f).matchAll(/url\(\s*["']?([^"')]+)/g)) if (!to.startsWith('data:')) add(pathOf(f), to, at)
  } else if (/\.(txt|bib|cff)$/.test(f)) {
    for (const [to] of site.text(f).matchAll(/https?:\/\/[^\s"'{}<>,]+/g)) add(pathOf(f), to, at)
  }
}

// On the forge, a page of the site is Hugo source with raw shortcodes; so what is read
// there links to files that are there, and to pages where they are built.
const published = readFileSync('config.toml', 'utf8').match(/^baseURL = "(.*)"$/m)[1]
for (const file of ['README.md', 'CONTRIBUTING.md', ...readdirSync('docs').filter((f) => f.endsWith('.md')).map((f) => `docs/${f}`)]) {
  for (const [, link] of readFileSync(file, 'utf8').matchAll(/\]\(([^)\s]+)\)/g)) {
    if (link.startsWith('#')) continue
    if (/^https?:/.test(link)) { add(file, link.replace(published, `${host}${base}/`), host); continue }
    const at = join(dirname(file), link.replace(/#.*/, ''))
    if (/^(content|layouts)\//.test(at)) complaints.push(`${file}: ${link} is source of the site; link to ${host}${base}/ instead`)
    else if (!existsSync(at)) complaints.push(`${file}: the link ${link} leads nowhere`)
  }
}

const to = new Map() // file → files it links to
for (const { from, url, follow } of links) {
  let file = ''
  try { file = site.locate(url.pathname) } catch { /* a percent sign that is none */ }
  if (!file) { complaints.push(`${from}: the link ${url.pathname} leads nowhere`); continue }
  if (follow) to.set(from, (to.get(from) ?? new Set()).add(file))
  const anchor = decodeURIComponent(url.hash.slice(1))
  if (anchor && ids.has(file) && !ids.get(file).has(anchor)) complaints.push(`${from}: no anchor ${url.hash} on ${url.pathname}`)
}

const reached = new Set(['index.html', '404.html'])
for (const file of reached) for (const next of to.get(pathOf(file)) ?? []) reached.add(next)
for (const p of site.pages) if (!reached.has(p.file)) complaints.push(`${p.path}: no link leads here from the home page`)

for (const c of new Set(complaints)) console.log(c)
if (complaints.length > 0) process.exit(1)
console.log(`${site.files.length} files, ${links.length} addresses inside the site: each leads somewhere, and every page is reached`)
