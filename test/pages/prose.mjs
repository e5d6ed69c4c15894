// No figure in prose is typed by hand. Digits may occur in Markdown only where they are
// not figures: in code, links, shortcodes, front matter, a name such as HTTP/2 or p50, or
// the year of a cited work. Prints each place that breaks this, and fails if there is
// one.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const [root] = process.argv.slice(2)
if (!root) { console.error('usage: prose.mjs DIRECTORY'); process.exit(2) }

// Parts that are blanked before the search; line breaks stay, so that line numbers are
// right.
const notProse = [
  /^(---|\+\+\+)\n[\s\S]*?\n\1\n/, // front matter
  /^(```+|~~~+)[\s\S]*?^\1/gm, // code blocks
  /\{\{[<%][\s\S]*?[%>]\}\}/g, // shortcodes
  /<!--[\s\S]*?-->/g,
  /`[^`\n]*`/g, // code
  /\[[^\]\n]*\b(19|20)\d\d(?=\]\()/g, // a work that is cited, by its year
  /\]\([^)]*\)/g, /<https?:[^>]*>/g, /\{[#.][^}]*\}/g, // link targets, attributes
  /^\{.*\}$/gm,
]
// Names that hold a digit but are no figures.
const names = /\b(Chasing 1 Million RPS|HTTP\/\d(\.\d)?|p\d{2}|IPv[46]|SHA-?256|x86_64|UTF-8|CC BY \d\.\d|Python \d|Fiber v\d|gofakeit v\d|[Vv]ersion \d+|Node\.js \d+|Go \d\.\d+|M\d|c\d[a-z]*\.\d*xlarge)\b/g

const files = readdirSync(root, { recursive: true }).filter((f) => f.endsWith('.md')).sort()
let found = 0
for (const f of files) {
  let text = readFileSync(join(root, f), 'utf8')
  for (const re of notProse) text = text.replace(re, (m) => m.replace(/[^\n]/g, ' '))
  text = text.replace(names, (m) => ' '.repeat(m.length)).replace(/^\s*\d+\. /gm, (m) => ' '.repeat(m.length))
  text.split('\n').forEach((line, i) => {
    const m = /\d[\d.,]*/.exec(line)
    if (!m) return
    found++
    console.log(`${join(root, f)}:${i + 1}: the figure ${m[0]} is typed by hand; take it from a data file by shortcode`)
  })
}
if (files.length === 0) { console.error(`${root}: no Markdown there`); process.exit(2) }
if (found > 0) process.exit(1)
console.log(`${files.length} texts, no figure typed by hand`)
