// A built site as the page checks see it: its files, the kind of each page, and
// which of a kind are looked at where looking at all would take too long.
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { join, normalize } from 'node:path'

// The site is checked under a path of its own, as it is published.
export const base = '/line-rate'
export const host = 'http://127.0.0.1'

// open reads the list of files under root.
export function open (root) {
  if (!root || !existsSync(root)) { console.error(`usage: ${process.argv[1]} DIRECTORY`); process.exit(2) }
  const files = readdirSync(root, { recursive: true }).map((f) => f.replaceAll('\\', '/')).filter((f) => statSync(join(root, f)).isFile()).sort()
  const text = (f) => readFileSync(join(root, f), 'utf8')
  return {
    root,
    files,
    text,
    // Pages by path. One that only sends its reader on is none.
    pages: files.filter((f) => f.endsWith('.html') && !/http-equiv="?refresh/.test(text(f))).map((f) => ({ file: f, path: pathOf(f), kind: kindOf(f), bytes: statSync(join(root, f)).size })),
    // The file behind a path of the site, '' if there is none.
    locate (path) {
      if (path !== base && !path.startsWith(base + '/')) return ''
      const file = normalize(decodeURIComponent(path.slice(base.length + 1)) || '.')
      const at = join(root, file)
      if (!existsSync(at)) return ''
      if (!statSync(at).isDirectory()) return file
      return existsSync(join(at, 'index.html')) ? join(file, 'index.html') : ''
    }
  }
}

export const pathOf = (file) => `${base}/${file.replace(/(^|\/)index\.html$/, '$1')}`

// kindOf tells pages apart by their place: what stands at the top is each a
// kind of its own, and so is a section at one depth. journal/ has one kind of
// page, which is every entry's.
function kindOf (file) {
  const parts = file.replace(/\/?index\.html$/, '').split('/').filter(Boolean)
  if (parts.length === 0) return 'home'
  return [parts[0], ...parts.slice(1).map(() => '*')].join('/')
}

// sample gives all entries, all kinds with few pages, and of the others the
// first, the heaviest and the last, and says so.
export function sample (pages) {
  const kinds = new Map()
  for (const p of pages) kinds.set(p.kind, [...(kinds.get(p.kind) ?? []), p])
  const picked = []
  for (const [kind, all] of kinds) {
    if (kind === 'journal/*' || all.length <= 3) { picked.push(...all); continue }
    const heaviest = all.reduce((a, b) => b.bytes > a.bytes ? b : a)
    const some = [...new Set([all[0], heaviest, all.at(-1)])]
    picked.push(...some)
    console.log(`of ${all.length} pages ${kind}: ${some.map((p) => p.path).join(', ')} (the first, the heaviest, the last)`)
  }
  return picked
}
