// What a reader on a phone meets. An entry's story is short and comes before its
// evidence, every claim of the entry is named in the text, a link into a folded part
// opens it, and no table hides a part of itself.

const words = 1200 // at most, in the story of an entry
const chapter = 1800 // at most, where a page tells several entries
const screens = 10 // fewer, before the evidence of the median entry begins
const phone = { width: 360, height: 780 }

// story measures an entry as it is first shown, and opens a part by a link into it.
// Returns how many screens of a phone come before the evidence.
export async function story (v) {
  await v.page.setViewportSize(phone)
  const found = await v.page.evaluate(() => {
    const at = document.getElementById('evidence')
    if (!at) return null
    // Captions, words in charts and tips that open are looked at, not read from start to end.
    const told = document.querySelector('.story').cloneNode(true)
    for (const e of told.querySelectorAll('figure, figure ~ .scroll, section.scroll, svg, pre, aside')) e.remove()
    const claims = [...document.querySelectorAll('.claims section.claim h4[id]')]
    const named = new Set([...document.querySelectorAll('.story a[href], .evidence .badge, .evidence .rows a[href], .evidence .fold > p a[href]')].map((a) => a.pathname + a.hash))
    return {
      before: at.getBoundingClientRect().top + scrollY,
      several: told.querySelectorAll('h2[id^="entry-"]').length > 1,
      words: told.textContent.split(/\s+/).filter((w) => /[\p{L}\p{N}]/u.test(w)).length,
      unnamed: claims.filter((h) => !named.has(h.querySelector('a').pathname + h.querySelector('a').hash)).map((h) => h.id),
      inside: claims[0]?.id
    }
  })
  if (!found) { v.say('an entry without a part for its evidence'); return NaN }
  const most = found.several ? chapter : words
  if (found.words > most) v.say(`the story has ${found.words} words, and at most ${most} are meant`)
  for (const id of found.unnamed) v.say(`the claim #${id} is named neither in the story nor in its evidence`)
  if (found.inside) {
    await v.page.evaluate((id) => { location.hash = id }, found.inside)
    const open = await v.page.waitForFunction((id) => document.getElementById(id).checkVisibility({ contentVisibilityAuto: true }), found.inside, { timeout: 5000 }).catch(() => null)
    if (!open) v.say(`a link to #${found.inside} does not open the part that holds it`)
  }
  return found.before / phone.height
}

// median complains if the evidence of half of the entries begins too late.
export function median (all, complain) {
  const sorted = [...all].sort((a, b) => a - b)
  const middle = sorted[Math.floor(sorted.length / 2)]
  if (!(middle < screens)) complain(`half of the entries have ${middle?.toFixed(1)} screens of a phone or more before their evidence; fewer than ${screens} are meant`)
}

// unfold opens all that is folded, so that it is checked as well.
export const unfold = (v) => v.page.evaluate(() => { for (const d of document.querySelectorAll('details')) d.open = true })

// tables complains of each table that is wider than the region it may scroll in.
export async function tables (v) {
  const wide = await v.page.evaluate(() => [...document.querySelectorAll('main table')].filter((t) => {
    const region = t.closest('.scroll') ?? t.parentElement
    return t.checkVisibility() && region.scrollWidth > region.clientWidth + 1
  }).map((t) => t.id || t.caption?.textContent.trim().slice(0, 60) || t.className))
  for (const t of wide) v.say(`the table “${t}” hides a part of itself`)
}
