// Runs axe in an open page.
//
// A page is looked at in full once at each width. Light, dark and paper differ only in
// colours. So the other looks run only the rules that depend on colours, and only on
// elements that can differ in colour. Of elements with the same tag, classes and
// attributes, whose ancestors are alike in the same way, that is the first visible one
// that is a control or has text of its own. Style sheets choose by nothing else except by
// place among siblings, which the full looks cover. So a table of a thousand cells counts
// as many as it has kinds of cells.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

// axe is the program, for a page to load once after each visit.
export const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

// look complains of what axe finds in a page, or only of what depends on colours.
export async function look ({ page, say }, colours) {
  const violations = await page.evaluate(async (colours) => {
    const options = { resultTypes: ['violations'] }
    if (!colours) return (await globalThis.axe.run(document, options)).violations
    // Values that style sheets choose by; of other attributes only the name counts, since
    // they hold addresses, names and coordinates.
    const valued = ['class', 'role', 'scope', 'rel', 'lang', 'type', 'aria-current']
    const places = new Map()
    const place = (e) => {
      if (!places.has(e)) places.set(e, `${e.parentElement ? place(e.parentElement) : ''} > ${e.localName} ${e.getAttributeNames().map((n) => valued.includes(n) ? `${n}=${e.getAttribute(n)}` : n).sort().join(' ')}`)
      return places.get(e)
    }
    const styles = new Map()
    for (const e of document.body.querySelectorAll('*')) {
      if (styles.has(place(e))) continue
      const text = [...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.data.trim())
      if ((text || e.matches('a, button, input, select, textarea')) && e.checkVisibility({ visibilityProperty: true })) styles.set(place(e), e)
    }
    return (await globalThis.axe.run({ include: [...styles.values()] }, { ...options, runOnly: ['cat.color'] })).violations
  }, colours)
  for (const f of violations) say(`axe ${f.id}: ${f.help}: ${f.nodes.slice(0, 3).map((n) => n.target.join(' ')).join(', ')}`)
}
