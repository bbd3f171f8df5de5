// Styles and script of the reference, on top of the style sheet of the console.
import { assets } from '#foundation/http/assets.ts';
import { productIcon, styleSheet } from '../style-sheet.ts';

const style = `
.reference .bar nav { display: flex; flex-wrap: wrap; gap: .25rem 1rem; margin-left: auto; font-size: .875rem; }
.reference .bar nav a { color: var(--muted); }
.reference .bar nav a[aria-current] { color: var(--text); font-weight: 550; text-decoration: none; }
.reference main { font-size: .9375rem; line-height: 1.375rem; }
.reference .menu label { padding: 0 .625rem; font-size: .75rem; color: var(--muted); }
.reference .menu input { min-height: 2rem; margin-bottom: .25rem; font-size: .875rem; }
.reference .menu h2 a { padding: 0; font-size: .75rem; font-weight: 600; color: var(--muted); }
.reference .menu li a { align-items: baseline; line-height: 1.125rem; padding-block: .1875rem; }
.reference .menu li a > :last-child { min-width: 0; overflow-wrap: anywhere; font-size: .8125rem; }
.method { flex: none; width: 2.875rem; font: 600 .625rem/1.5 ui-monospace, Menlo, Consolas, monospace; color: var(--muted); }
.method.get { color: var(--good); }
.method.post { color: var(--accent); }
.method.delete { color: var(--danger); }
.intro { max-width: 48rem; }
main > section > h2 { position: sticky; top: 0; z-index: 1; margin: 2rem 0 0; padding: .375rem 0; font-size: 1.125rem; background: var(--ground); border-bottom: 1px solid var(--line); }
article { padding: 1.25rem 0 1.5rem; border-bottom: 1px solid var(--line); scroll-margin-top: 2.5rem; }
article > div { min-width: 0; }
article.record { max-width: 48rem; }
article h3 { margin: 0 0 .375rem; font-size: 1rem; }
article h3 a { color: inherit; text-decoration: none; }
article h3 a:hover { text-decoration: underline; }
article h4 { margin: 1rem 0 .25rem; font-size: .8125rem; color: var(--muted); }
article:target { box-shadow: -1rem 0 0 -.8125rem var(--accent); }
.address { margin-bottom: .5rem; font-size: .9375rem; }
.address .method { display: inline-block; width: auto; margin-right: .25rem; font-size: .8125rem; }
.members { margin: 0; }
.members > div { padding: .375rem 0; border-top: 1px solid var(--line); }
.members dt { overflow-wrap: anywhere; }
.members dt > code { font-weight: 600; }
.members dd { margin: 0; color: var(--muted); font-size: .875rem; overflow-wrap: anywhere; }
.members .muted, .members .required { font-size: .8125rem; }
.required { color: var(--danger); }
.examples { display: grid; gap: .75rem; align-content: start; margin-top: 1rem; }
figure { min-width: 0; margin: 0; border: 1px solid var(--line); border-radius: .5rem; background: var(--surface); }
figcaption { display: flex; justify-content: space-between; padding: .25rem .75rem; font-size: .75rem; color: var(--muted); border-bottom: 1px solid var(--line); }
figcaption button { font-size: .75rem; }
.examples pre { max-height: 22rem; margin: 0; padding: .625rem .75rem; overflow: auto; font-size: .8125rem; line-height: 1.125rem; }
.try form { display: grid; gap: .25rem; }
.try label, #try-credential label { margin: 0; font-size: .8125rem; }
.try input, #try-credential input { min-height: 2rem; padding-block: .25rem; font-size: .875rem; }
.try button { justify-self: start; margin-top: .25rem; }
.try pre { border: 1px solid var(--line); border-radius: .5rem; background: var(--surface); }
.errors { max-width: 44rem; }
.errors section { padding-top: .75rem; scroll-margin-top: 1rem; }
.errors h2 a { color: inherit; text-decoration: none; font-family: ui-monospace, Menlo, Consolas, monospace; }
.errors h2 span { color: var(--muted); font-size: .875rem; font-weight: 400; }
.errors section:target { box-shadow: -1rem 0 0 -.8125rem var(--accent); }
@media (min-width: 62rem) {
  .reference.console { grid-template-columns: 18rem minmax(0, 1fr); }
  .reference .menu > div { top: 0; max-height: 100vh; padding-block: .5rem; }
}
@media (max-width: 61.99rem) { .reference .menu section { display: none; } }
@media (min-width: 75rem) {
  main > section > article:not(.record) { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 2rem; }
  .examples { position: sticky; top: 3rem; margin-top: 0; }
}
`;

// The token stays in the field: it is stored nowhere.
const script = `
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
for (const one of all('.copy, .try, #try-credential')) one.hidden = false;
const filter = document.getElementById('filter-operations');
const entries = all('.menu li').map((item) => {
  const article = document.getElementById(item.firstElementChild.hash.slice(1));
  return { item, article, text: (item.textContent + ' ' + article.firstElementChild.textContent).toLowerCase() };
});
filter.addEventListener('input', () => {
  const words = filter.value.toLowerCase().split(/\\s+/).filter(Boolean);
  let matches = 0;
  for (const { item, article, text } of entries) {
    item.hidden = article.hidden = !words.every((word) => text.includes(word));
    matches += item.hidden ? 0 : 1;
  }
  for (const section of all('.menu section, main > section')) {
    const parts = all('li, article:not(.record)', section);
    section.hidden = words.length > 0 && parts.every((part) => part.hidden);
  }
  document.getElementById('no-match').hidden = matches > 0;
});
document.addEventListener('click', async ({ target }) => {
  if (!target.matches('.copy')) return;
  await navigator.clipboard.writeText(target.closest('figure').querySelector('pre').textContent);
  target.textContent = 'Copied';
  setTimeout(() => { target.textContent = 'Copy'; }, 2_000);
});
document.addEventListener('submit', async (event) => {
  event.preventDefault();
  const form = event.target, output = form.querySelector('pre'), token = document.getElementById('try-token').value.trim();
  if (!output) return;
  let address = form.getAttribute('action');
  const query = new URLSearchParams();
  for (const { name, value, className } of all('input', form)) {
    if (className === 'in-path') address = address.replace('{' + name + '}', encodeURIComponent(value));
    else if (value) query.set(name, value);
  }
  output.hidden = false;
  output.textContent = 'Waiting for the answer.';
  try {
    const answer = await window.fetch(address + (query.size ? '?' + query : ''), { headers: token ? { authorization: 'Bearer ' + token } : {} });
    const text = await answer.text();
    const isJson = /json/.test(answer.headers.get('content-type') ?? '');
    output.textContent = answer.status + ' ' + answer.statusText + '\\n\\n' + (isJson && text ? JSON.stringify(JSON.parse(text), null, 2) : text.slice(0, 100_000));
  } catch (error) {
    output.textContent = 'The request failed: ' + error.message;
  }
});
`;

export const referenceFiles = assets('/reference', async () => ({
  'style.css': { type: 'text/css; charset=utf-8', content: styleSheet },
  'icon.svg': { type: 'image/svg+xml', content: productIcon },
  'reference.css': { type: 'text/css; charset=utf-8', content: style },
  'reference.js': { type: 'text/javascript; charset=utf-8', content: script },
}));
