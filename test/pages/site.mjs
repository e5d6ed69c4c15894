// A built site as the page checks see it: its files, the kind of each page, and which
// pages of a kind are checked if checking all would take too long.
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { join, normalize } from 'node:path'

// The site is checked under a path, as it is published.
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
    // Pages by path, without those that only redirect.
    pages: files.filter((f) => f.endsWith('.html') && !/http-equiv="?refresh/.test(text(f))).map((f) => ({ file: f, path: pathOf(f), kind: kindOf(f), bytes: statSync(join(root, f)).size })),
    // The file of a path on the site; '' if there is none.
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

// kindOf tells the kind of a page by its path: each page at the top is a kind of its own,
// and so is a section at one depth. journal/ has only one kind of page: all entries.
function kindOf (file) {
  const parts = file.replace(/\/?index\.html$/, '').split('/').filter(Boolean)
  if (parts.length === 0) return 'home'
  return [parts[0], ...parts.slice(1).map(() => '*')].join('/')
}

// sample returns all entries, all kinds with few pages, and of each other kind the first,
// the heaviest and the last page; it prints which.
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
