// In a copy of the golden pages, the text that the feed carries of an entry becomes the
// number of its lines, so that no page is kept twice. Each line must stand on the entry's
// page, in the same order, but for its addresses, which are complete in the feed.
//
//   node test/site/feed.mjs DIRECTORY
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = process.argv[2]
const file = join(root, 'feed.xml')
const xml = readFileSync(file, 'utf8')
const home = new URL(/<id>([^<]*)<\/id>/.exec(xml)[1])
const signs = { lt: '<', gt: '>', '#34': '"', '#39': "'", '#xA': '\n', '#x9': '\t', amp: '&' }
const unescape = (text) => text.replace(/&(\w+|#\w+);/g, (escaped, name) => signs[name] ?? escaped)

let entries = 0
let wrong = 0
const short = xml.replace(/(<content type="html" xml:base="([^"]*)">)([^<]*)(?=<\/content>)/g, (_, tag, address, text) => {
  entries++
  const page = readFileSync(join(root, address.slice(home.href.length), 'index.html'), 'utf8')
  const lines = unescape(text).replaceAll(` href="${address}#`, ' href="#').replaceAll(`="${home.href}`, `="${home.pathname}`)
    .split('\n').map((line) => line.trim()).filter(Boolean)
  let from = 0
  for (const line of lines) {
    const at = page.indexOf(line, from)
    if (at >= 0) { from = at + line.length; continue }
    wrong++
    console.log(`feed.xml carries of ${address} what is not there on the page, or elsewhere: ${line}`)
  }
  return `${tag}${lines.length} lines of the page`
})
if (entries === 0) console.log('feed.xml carries no entry')
if (entries === 0 || wrong > 0) process.exit(1)
writeFileSync(file, short)
