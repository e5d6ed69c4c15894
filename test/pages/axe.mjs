// Runs axe in an open page.
//
// A page is looked at in full once. On a narrow screen it is looked at again, but for the
// contrast of each element, which follows from its style. Light, dark and paper differ only
// in colours, so the other looks run only the rules that depend on colours. Contrast is
// then that of elements that can differ in colour. Of elements with the same tag, classes and
// attributes, whose ancestors are alike in the same way, that is the first visible one
// that is a control or has text of its own. Style sheets choose by nothing else except by
// place among siblings, which the full look covers. So a table of a thousand cells counts
// as many as it has kinds of cells.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

// axe is the program, for a page to load once after each visit. In looks at colours one
// rule asks for the stricter contrast. As it comes, it lets pass what breaks the weaker one,
// which another rule says; without that floor it says both. It takes the elements that look
// has marked: a list of elements to look at would be searched for each element of the page.
const strict = 'color-contrast-enhanced'
export const axe = `${readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')};
axe.configure({
  rules: [{ id: '${strict}', selector: '[data-look]' }],
  checks: [{ id: '${strict}', options: {
    ignoreUnicode: true, boldValue: 700, boldTextPt: 14, largeTextPt: 18, pseudoSizeThreshold: 0.25, shadowOutlineEmMax: 0.1, textStrokeEmMin: 0.03,
    contrastRatio: { normal: { expected: 7 }, large: { expected: 4.5 } }
  } }]
})`

// look complains of what axe finds in a page: everything ('full'), the same with the contrast
// of marked elements ('narrow'), or what depends on colours ('colours').
export async function look ({ page, say }, what) {
  const violations = await page.evaluate(async ({ what, strict }) => {
    const { axe } = globalThis
    const options = { resultTypes: ['violations'] }
    axe.configure({ rules: [{ id: 'color-contrast', selector: what === 'narrow' ? '[data-look]' : '*' }] })
    if (what === 'full') return (await axe.run(document, options)).violations
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
    for (const e of styles.values()) e.dataset.look = ''
    const { violations } = await axe.run(document, what === 'narrow' ? options : { ...options, runOnly: [strict, 'link-in-text-block'] })
    for (const e of styles.values()) delete e.dataset.look
    return violations
  }, { what, strict })
  for (const f of violations) say(`axe ${f.id}: ${f.help}: ${f.nodes.slice(0, 3).map((n) => n.target.join(' ')).join(', ')}`)
}
