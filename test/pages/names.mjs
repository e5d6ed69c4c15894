// Two machines of one model have one name in their profiles, and no page may show them
// under it: a reader could not tell which is which. The checks are of what a page says, not
// of the data: links to two machines with one text; two choices, columns or terms of a
// list with one label.
//
//   names.mjs DIRECTORY
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const text = (html) => html.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ').trim()
// What stands once in each of these has to be different from the others in it.
const groups = [
  ['a filter', /<select[\s\S]*?<\/select>/g, /<option[^>]*>([\s\S]*?)(?=<\/?option|<\/select>)/g],
  ['the head of a table', /<thead[\s\S]*?<\/thead>/g, /<th[^>]*>([\s\S]*?)<\/th>/g],
  ['a list', /<dl[\s\S]*?<\/dl>/g, /<dt[^>]*>([\s\S]*?)<\/dt>/g]
]

// names returns a sentence for each name that two machines share on a page of a built site.
export function names (root) {
  const complaints = []
  for (const f of readdirSync(root, { recursive: true }).filter((f) => f.endsWith('.html')).sort()) {
    const html = readFileSync(join(root, f), 'utf8')
    const linked = new Map()
    for (const [, id, inner] of html.matchAll(/<a[^>]*href="?[^"> ]*\/machines\/#([^"> ]+)"?[^>]*>([\s\S]*?)<\/a>/g)) {
      const name = text(inner)
      if (linked.has(name) && linked.get(name) !== id) complaints.push(`${f}: "${name}" leads to ${linked.get(name)} and to ${id}`)
      linked.set(name, id)
    }
    for (const [what, whole, part] of groups) {
      for (const [group] of html.matchAll(whole)) {
        const seen = new Set()
        for (const [, inner] of group.matchAll(part)) {
          const label = text(inner)
          if (label && seen.has(label)) complaints.push(`${f}: ${what} has "${label}" twice`)
          seen.add(label)
        }
      }
    }
  }
  return complaints
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const complaints = names(process.argv[2])
  for (const c of complaints) console.log(c)
  console.log(`${complaints.length} names stand for two machines or more`)
  if (complaints.length > 0) process.exit(1)
}
