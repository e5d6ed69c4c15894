// What a page weighs over the wire on a first visit: gzip of its HTML (including inline
// SVG), its style sheets and scripts, and its fonts and images, found from what the page
// itself asks for. Each page has one style sheet, and no script that delays the first paint.
//
//   weight.mjs DIRECTORY
import { spawnSync } from 'node:child_process'
import { gzipSync } from 'node:zlib'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Parser } from 'htmlparser2'
import { host, open } from './site.mjs'

const kB = 1000 // as browsers count transferred bytes
const budgets = [
  // kind, the heaviest page, and why
  ['journal/*', 72, 'an entry carries its charts and the tables beside them'],
  ['claims', 60, 'the record is every claim, with a mark for each that compares'],
  ['claims/*', 55, 'an experiment carries its claims, all conditions and all runs'],
  ['reference', 70, 'every rule, gate, warning and metric on one page'],
  ['', 60, 'any other page is words and a table, and the faces are most of it']
]
// Budgets are of what the journal holds. A reader's own runs, which git does not track, add to its pages.
const own = spawnSync('git', ['ls-files', '--others', '--exclude-standard', 'data/results']).stdout?.length ? 1 : 0
const budgetOf = (kind) => budgets.find(([k]) => k === kind) ?? budgets.at(-1)
// The median of all entries, the pages that readers see most. Four of the lightest are one page.
const medianEntry = 54

const site = open(process.argv[2])
const weights = new Map() // file → its bytes over the wire
const weigh = (file) => {
  if (!weights.has(file)) {
    const body = readFileSync(join(site.root, file))
    // Fonts and images are compressed as they are.
    weights.set(file, /\.(woff2?|png|jpe?g|webp|avif|gif)$/.test(file) ? body.length : gzipSync(body, { level: 6 }).length)
  }
  return weights.get(file)
}
const fileOf = (address, at) => {
  const url = new URL(address, at)
  return url.origin === host ? site.locate(url.pathname) : ''
}

const complaints = []
const rows = []
for (const page of site.pages) {
  const at = host + page.path
  const parts = { html: weigh(page.file), css: 0, js: 0, other: 0 }
  const seen = new Set()
  const load = (part, address, from = at) => {
    const file = address && !address.startsWith('data:') ? fileOf(address, from) : ''
    if (!file || seen.has(file)) return
    seen.add(file)
    parts[part] += weigh(file)
    // What a sheet loads in turn: fonts (in the format that current browsers take),
    // images, sheets.
    if (file.endsWith('.css')) {
      for (const [, to] of site.text(file).matchAll(/url\(\s*["']?([^"')]+)/g)) if (!/\.(woff|ttf|eot)$/.test(to)) load('other', to, new URL(address, from))
    }
  }
  let sheets = 0
  let style = 0
  new Parser({
    onopentag (name, a) {
      const rel = (a.rel ?? '').toLowerCase().split(/\s+/)
      if (name === 'style') style++
      if (name === 'link' && rel.includes('stylesheet')) { sheets++; load('css', a.href) }
      if (name === 'link' && (rel.includes('preload') || rel.includes('modulepreload'))) load(a.as === 'style' ? 'css' : a.as === 'script' || rel.includes('modulepreload') ? 'js' : 'other', a.href)
      if (name === 'link' && rel.includes('icon')) load('other', a.href)
      if (name === 'script' && a.src) {
        load('js', a.src)
        if (a.async === undefined && a.defer === undefined && a.type !== 'module') complaints.push(`${page.path}: ${a.src} holds up the first paint; defer it`)
      }
      if (name === 'img' && a.loading !== 'lazy') load('other', a.src)
    }
  }).end(site.text(page.file))
  if (sheets > 1) complaints.push(`${page.path}: ${sheets} style sheets, where the first paint may need one`)
  if (style > 0) complaints.push(`${page.path}: a style element beside the style sheet`)
  rows.push({ ...page, parts, total: parts.html + parts.css + parts.js + parts.other })
}

const show = (n) => (n / kB).toFixed(1)
const kinds = new Map()
for (const r of rows) kinds.set(r.kind, [...(kinds.get(r.kind) ?? []), r])
console.log('the heaviest page of each kind, in kB over the wire')
console.log(`${'kind'.padEnd(14)} pages   total    html   css    js  other  budget  page`)
for (const [kind, all] of [...kinds].sort(([a], [b]) => a < b ? -1 : 1)) {
  const r = all.reduce((a, b) => b.total > a.total ? b : a)
  const [, budget, why] = budgetOf(kind)
  console.log(`${kind.padEnd(14)} ${String(all.length).padStart(5)} ${show(r.total).padStart(7)} ${show(r.parts.html).padStart(7)} ${show(r.parts.css).padStart(5)} ${show(r.parts.js).padStart(5)} ${show(r.parts.other).padStart(6)} ${String(budget).padStart(7)}  ${r.path}`)
  for (const x of all) if (x.total > (budget + own) * kB) complaints.push(`${x.path}: ${show(x.total)} kB, and the budget is ${budget}: ${why}`)
}
const entries = rows.filter((r) => r.kind === 'journal/*').map((r) => r.total).sort((a, b) => a - b)
if (entries.length > 0) {
  const median = (entries[Math.floor((entries.length - 1) / 2)] + entries[Math.ceil((entries.length - 1) / 2)]) / 2
  console.log(`the median of ${entries.length} entries: ${show(median)} of ${medianEntry} kB`)
  if (median >= (medianEntry + own) * kB) complaints.push(`the median entry weighs ${show(median)} kB, and the budget is ${medianEntry}`)
}
for (const c of complaints) console.log(c)
if (complaints.length > 0) process.exit(1)
