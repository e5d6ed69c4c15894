// Checks what a built site tells machines. Each page's policy comes first and allows
// nothing foreign. Its linked data parses, and what it names exists. Its card has the
// size that it states. A run's CSV holds the trials and figures of its JSON, and the
// ledger the verdicts of the pages. A feed's addresses are complete. The sitemap's pages exist.
//
//   machines.mjs DIRECTORY
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const [root] = process.argv.slice(2)
if (!root || !existsSync(join(root, 'index.html'))) { console.error('usage: machines.mjs DIRECTORY'); process.exit(2) }
const complaints = []
const expect = (ok, what) => { if (!ok) { complaints.push(what); console.log(what) } }
const read = (f) => readFileSync(join(root, f), 'utf8')
const files = readdirSync(root, { recursive: true }).sort()
const unescape = (s) => s.replace(/&#(\d+);/g, (_, n) => String.fromCodePoint(n)).replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&')

const home = unescape(/<link rel="canonical" href="([^"]*)"/.exec(read('index.html'))[1])
// there tells whether an address of the site has a file.
const there = (url) => {
  if (!url.startsWith(home)) return false
  const file = join(root, decodeURIComponent(url.slice(home.length).split(/[?#]/)[0]))
  return existsSync(file) && (!statSync(file).isDirectory() || existsSync(join(file, 'index.html')))
}

let data = 0
for (const f of files.filter((f) => f.endsWith('.html'))) {
  const html = read(f)
  if (/http-equiv="?refresh/.test(html)) continue
  const policy = /<head>\s*<meta http-equiv="Content-Security-Policy" content="([^"]*)">/.exec(html)
  expect(policy && unescape(policy[1]).startsWith("default-src 'none';") && !/unsafe-inline|unsafe-eval|https?:|\*/.test(unescape(policy[1])), `${f}: no content security policy at the top, or a loose one`)
  expect(!/<[^>]*\s(?:style|on[a-z]+)=/.test(html) && !/<style/.test(html), `${f}: a style or a handler in the page, which the policy refuses`)
  for (const [, attributes] of html.matchAll(/<(?:script|link rel="stylesheet")([^>]*)>/g)) {
    if (!/application\/ld\+json/.test(attributes)) expect(/integrity="sha256-/.test(attributes), `${f}: a script or sheet without its digest: ${attributes}`)
  }
  for (const [, json] of html.matchAll(/<script type="application\/ld\+json">([\s\S]*?)<\/script>/g)) {
    let doc
    try { doc = JSON.parse(json) } catch (e) { expect(false, `${f}: linked data: ${e.message}`); continue }
    data++
    for (const key of ['url', 'image']) expect(there(doc[key]), `${f}: linked data: ${doc[key]} is not there`)
    if (/^journal\/[^/]+\/index\.html$/.test(f)) expect(doc['@type'] === 'TechArticle', `${f}: linked data names no article`)
  }
  const meta = (name) => unescape(new RegExp(`<meta property="${name}" content="([^"]*)"`).exec(html)?.[1] ?? '')
  const card = meta('og:image')
  if (!there(card)) { expect(false, `${f}: the card ${card} is not there`); continue }
  const png = readFileSync(join(root, card.slice(home.length)))
  expect(png.readUInt32BE(16) === 1200 && png.readUInt32BE(20) === 630 && meta('og:image:width') === '1200' && meta('og:image:height') === '630', `${f}: the card is not of the size it should be`)
  expect(meta('og:image:alt').length > 10, `${f}: the card has no words`)
}

// A small CSV parser, strict about quotes.
function parse (text) {
  const rows = [[]]
  const re = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\n|$)/y
  for (let m; (m = re.exec(text)) && re.lastIndex <= text.length;) {
    rows.at(-1).push(m[1] !== undefined ? m[1].replaceAll('""', '"') : m[2])
    if (re.lastIndex === text.length) return m[3] === '\n' ? rows : []
    if (m[3] === '\n') rows.push([])
  }
  return []
}
let runs = 0
for (const f of files.filter((f) => /^data\/results\/.*\.csv$/.test(f))) {
  const { trials, conditions, figures } = JSON.parse(read(f.replace(/csv$/, 'json')))
  const [head, ...rows] = parse(read(f))
  expect(head !== undefined && rows.length === (trials ?? []).length, `${f}: ${rows.length} rows for ${trials?.length} trials`)
  let block = 0
  // The sheet has all that follows as well; what was counted is in both.
  rows.slice(0, (trials ?? []).length).forEach((row, i) => {
    const t = trials[i]
    block = t.block ?? block
    const c = conditions.find((c) => c.id === t.of)
    const levels = c.levels ?? conditions.find((d) => d.id === c.control_of).levels
    const want = new Map([['seq', i + 1], ['block', block], ['condition', t.of], ['control_of', c.control_of ?? ''], ['reasons', (t.reasons ?? []).map((r) => `${r.gate}: ${r.detail}`).join('; ')]])
    for (const [k, v] of Object.entries(levels)) want.set(`level_${k}`, v)
    for (const [k, column] of Object.entries(figures ?? {})) {
      const v = Array.isArray(column) ? column.length === trials.length ? column[i] : null : column
      if (v !== null) want.set(k, v)
    }
    for (const [k, v] of Object.entries(t.below ?? {})) want.set(`below_${k}`, v)
    expect(row.length === head.length, `${f}:${i + 2}: ${row.length} cells under ${head.length} names`)
    for (const [name, v] of want) {
      const cell = row[head.indexOf(name)]
      expect(typeof v === 'number' ? cell !== '' && Number(cell) === v : cell === String(v), `${f}:${i + 2}: ${name} is ${cell}, not ${v}`)
    }
  })
  runs++
}
expect(runs > 0, 'no run as CSV')

// Each claim that the page of an experiment shows has its verdict in the ledger.
const [names, ...lines] = parse(read('data/ledger.csv'))
const places = ['experiment', 'claim', 'verdict'].map((name) => names.indexOf(name))
const listed = new Set(lines.map((l) => places.map((i) => l[i]).join(' ')))
for (const f of files.filter((f) => /^data\/claims\/.*\.json$/.test(f))) {
  const x = JSON.parse(read(f))
  for (const c of x.claims) expect(listed.has(`${x.name} ${c.id} ${c.verdict ?? ''}`), `data/ledger.csv: ${x.name}/${c.id} is not ${c.verdict ?? 'without a verdict'}`)
}

for (const f of files.filter((f) => /(^|\/)feed\.xml$/.test(f))) {
  const xml = read(f)
  const text = unescape(unescape(xml))
  const bare = /\s(?:href|src)="(?!https?:|mailto:)[^"]*"/.exec(text)
  expect(!bare, `${f}: an address without its site: ${bare}`)
  expect(/<link rel="self"[^>]*href="([^"]*)"/.test(xml) && there(unescape(/<link rel="self"[^>]*href="([^"]*)"/.exec(xml)[1])), `${f}: does not name itself`)
  expect(/<feed[^>]*>[\s\S]*?<updated>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ<\/updated>/.test(xml), `${f}: no time of its own`)
}
const pages = [...read('sitemap.xml').matchAll(/<loc>([^<]*)<\/loc>/g)].map((m) => unescape(m[1]))
for (const url of pages) expect(there(url), `sitemap.xml: ${url} is not there`)
expect(read('robots.txt').includes(`${home}sitemap.xml`), 'robots.txt: does not name the sitemap')

if (complaints.length > 0) { console.log(`${complaints.length} complaints`); process.exit(1) }
console.log(`${data} pages' linked data, ${runs} runs as CSV, ${pages.length} places on the map: sound`)
