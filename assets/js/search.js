// The search page has Pagefind's own interface, over the index that tools/search.sh makes after the pages.
const at = document.getElementById('search')
if (globalThis.PagefindUI) {
  const ui = new globalThis.PagefindUI({ element: '#search', baseUrl: at.dataset.base, showImages: false, showSubResults: true })
  at.querySelector('input').setAttribute('aria-labelledby', 'asked')
  const asked = new URLSearchParams(location.search).get('q')
  if (asked) ui.triggerSearch(asked)
} else {
  at.textContent = 'This copy of the site has no search index; “make site” makes one.'
}
