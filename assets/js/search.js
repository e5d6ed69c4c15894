// The search page. The index is made after the pages (tools/search.sh), and pagefind's
// own module reads it; this script only asks that module and lists its results.
const form = document.querySelector('form.search')
const field = form.elements.q
const said = document.getElementById('said')
const found = document.getElementById('found')
const more = document.getElementById('more')
const page = 10
// What is listed first: an entry tells what its claims mean, and a claim more than the
// pages of the machines that have it among many others.
const groups = [['entry', 'study'], ['claim'], ['page'], ['withdrawn'], ['host']]

let engine // a promise, once the first search has begun
let asked = 0 // the number of the latest search; the results of an earlier one that come late are dropped
let rest = []

function load () {
  engine ??= import(new URL(form.dataset.index, location.href)).then(async (pagefind) => {
    await pagefind.options({ baseUrl: form.dataset.base, excerptLength: 28 })
    return pagefind
  })
  return engine
}

// The results for some words, group by group and the best of each group first. The index
// also finds words that only begin with what was asked for. They count only if no page
// has the words themselves; a word in quotation marks is found as it stands.
async function find (words) {
  const index = await load()
  const whole = words.includes('"') ? [] : words.split(/\s+/)
  const ranked = (await Promise.all(groups.map((any) => index.search(words, { filters: { group: { any } } })))).flatMap((s) => s.results)
  const having = await Promise.all(whole.map(async (w) => new Set((await index.search(`"${w}"`)).results.map((r) => r.id))))
  const exact = ranked.filter((r) => having.every((ids) => ids.has(r.id)))
  return exact.length > 0 ? { results: exact, exact: true } : { results: ranked, exact: false }
}

// An excerpt is text with marks around the words that were searched for; other markup in
// it is dropped.
function excerpt (html) {
  const p = document.createElement('p')
  const walk = (node, into) => {
    for (const child of node.childNodes) {
      if (child.nodeName === 'MARK') into.append(Object.assign(document.createElement('mark'), { textContent: child.textContent }))
      else if (child.nodeType === Node.TEXT_NODE) into.append(child.data)
      else walk(child, into)
    }
  }
  walk(new DOMParser().parseFromString(html, 'text/html').body, p)
  return p
}

function item (data) {
  const li = document.createElement('li')
  const head = document.createElement('h2')
  const link = document.createElement('a')
  link.href = data.url
  link.textContent = data.meta.title
  const kind = document.createElement('span')
  kind.className = 'kind'
  kind.textContent = data.meta.kind ?? 'Page'
  head.append(link)
  li.append(kind, head, excerpt(data.excerpt))
  // Sections of a long page that contain the words, with their own addresses.
  const parts = (data.sub_results ?? []).filter((s) => s.url.includes('#')).slice(0, 3)
  if (parts.length > 0) {
    const p = document.createElement('p')
    p.className = 'parts'
    parts.forEach((s, i) => {
      if (i > 0) p.append(' · ')
      p.append(Object.assign(document.createElement('a'), { href: s.url, textContent: s.title }))
    })
    li.append(p)
  }
  return li
}

async function show (mine) {
  const next = await Promise.all(rest.slice(0, page).map((r) => r.data()))
  if (mine !== asked) return null
  rest = rest.slice(page)
  const items = next.map(item)
  found.append(...items)
  more.hidden = rest.length === 0
  return items
}

async function search () {
  const q = (new URLSearchParams(location.search).get('q') ?? '').trim()
  field.value = q
  found.replaceChildren()
  more.hidden = true
  said.textContent = ''
  const mine = ++asked
  if (q === '') return
  said.textContent = 'Searching …'
  try {
    const { results, exact } = await find(q)
    if (mine !== asked) return
    rest = results
    await show(mine)
    if (mine !== asked) return
    const pages = results.length === 1 ? '1 page has' : `${results.length} pages have`
    said.textContent = results.length === 0 ? `Nothing has “${q}”.` : exact ? `${pages} “${q}”.` : `Nothing has “${q}” as it stands. ${pages} words that begin like it.`
  } catch {
    if (mine === asked) said.textContent = 'This copy of the site has no search index; “make site” makes one.'
  }
}

form.addEventListener('submit', (event) => {
  event.preventDefault()
  const to = new URL(location.href)
  to.search = new URLSearchParams({ q: field.value })
  history.pushState(null, '', to)
  search()
})
addEventListener('popstate', search)
more.addEventListener('click', async () => {
  const items = await show(asked)
  items?.[0]?.querySelector('a').focus()
})
// The index is fetched only when a reader is about to search.
field.addEventListener('focus', () => { load().catch(() => {}) }, { once: true })
search()
