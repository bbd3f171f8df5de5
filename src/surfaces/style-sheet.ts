// The style sheet and logo of all pages: plain CSS, light and dark, from phone to desktop. Colors keep a contrast of at least 4.5:1 for
// text and 3:1 for edges of controls (WCAG 2.2, 1.4.3 and 1.4.11).
export const styleSheet = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#f6f7f9, #101217); --surface: light-dark(#fff, #191c23); --text: light-dark(#16191f, #eceef2);
  --muted: light-dark(#565d6b, #a2a9b6); --line: light-dark(#dfe2e8, #2c313b); --edge: light-dark(#858d9b, #737c8b);
  --accent: light-dark(#2f4bd8, #8fa2ff); --accent-strong: light-dark(#2439ab, #b3c0ff); --on-accent: light-dark(#fff, #0f1430);
  --accent-soft: light-dark(#ebeefd, #20274a); --danger: light-dark(#b3261e, #ff9a92); --danger-strong: light-dark(#8c1d18, #ffbab4);
  --danger-soft: light-dark(#fdeceb, #3a1d1d); --good: light-dark(#14693a, #7fd8a4); --good-soft: light-dark(#e6f5ec, #16301f);
  --shadow: 0 1px 2px light-dark(rgb(20 25 40 / 6%), transparent);
}
/* The theme that the person chose, instead of the theme of the system. */
[data-theme=light] { color-scheme: light; }
[data-theme=dark] { color-scheme: dark; }
*, ::before, ::after { box-sizing: border-box; }
[hidden] { display: none !important; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; min-height: 100vh; background: var(--ground); color: var(--text);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .75rem; letter-spacing: -.01em; }
h2 { font-size: 1.0625rem; line-height: 1.35; margin: 0 0 .75rem; }
h3 { font-size: .9375rem; line-height: 1.35; margin: 1.25rem 0 .5rem; }
p { margin: 0 0 1rem; }
:is(.card, main, li, form) > :last-child { margin-bottom: 0; }
a { color: var(--accent); text-underline-offset: .15em; }
a:hover { color: var(--accent-strong); }
code, pre, .code { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: .9375em; }
code { overflow-wrap: anywhere; }
pre { margin: 0 0 1rem; white-space: pre-wrap; overflow-wrap: anywhere; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.muted { color: var(--muted); }
.small { font-size: .875rem; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: 1rem; background: var(--surface); padding: .5rem 1rem; z-index: 1; }

.bar { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center;
  padding: .75rem max(1rem, calc((100vw - 60rem) / 2)); background: var(--surface); border-bottom: 1px solid var(--line); }
.brand { display: flex; gap: .625rem; align-items: center; color: var(--text); font-weight: 650; text-decoration: none; }
.brand:hover { color: var(--text); }
.brand img { display: block; }
main > h1 { margin-bottom: 1.25rem; }
main > h1:has(+ .lead) { margin-bottom: .375rem; }
.above { margin-bottom: .5rem; font-size: .9375rem; }
.lead { color: var(--muted); margin-bottom: 1.25rem; max-width: 44rem; }
.lead strong { color: var(--text); }
.bar button { min-height: 2rem; padding: .125rem .75rem; font-size: .875rem; font-weight: 500; white-space: nowrap; }
.console .bar { padding: .375rem 1.25rem; }
.icon { flex: none; width: 1rem; height: 1rem; fill: none; stroke: currentcolor; stroke-width: 1.5; stroke-linecap: round; stroke-linejoin: round; }
.menu { padding: .75rem .625rem 1.5rem; background: var(--surface); border-right: 1px solid var(--line); }
.menu h2 { margin: .75rem 0 .125rem; padding: 0 .625rem; font-size: .75rem; font-weight: 600; color: var(--muted); }
.menu ul { list-style: none; margin: 0; padding: 0; }
.menu a { display: flex; gap: .5rem; align-items: center; padding: .125rem .625rem; color: var(--muted); font-size: .875rem; line-height: 1.5rem; text-decoration: none; border-radius: .375rem; }
.menu a:hover { color: var(--text); background: var(--ground); }
.menu a[aria-current] { color: var(--text); font-weight: 550; background: var(--accent-soft); }
.menu a:focus-visible { outline-offset: -3px; }
.count:not(:empty) { margin-left: auto; padding: 0 .375rem; font-size: .75rem; font-weight: 600; font-variant-numeric: tabular-nums; color: var(--on-accent); background: var(--accent); border-radius: 1rem; }
.menu-button > .count:not(:empty) { margin-left: .375rem; }
.palette-button { display: flex; gap: .375rem; align-items: center; margin-left: auto; }
.palette-button kbd { margin-left: .25rem; color: var(--muted); font: inherit; font-size: .8125rem; font-weight: 400; }
.help-button { width: 2rem; padding: 0; }
.theme { margin: 0; }
.menu-button:nth-child(3) { margin-left: auto; }
.person { display: grid; gap: .5rem; justify-items: start; margin-top: .75rem; padding: .75rem .625rem 0; border-top: 1px solid var(--line); }
.person > span { max-width: 100%; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.person :is(button, select) { min-height: 2rem; padding: .125rem .75rem; font-size: .875rem; }
.switcher { position: relative; min-width: 0; }
.switcher summary { max-width: min(20rem, 60vw); padding: .125rem .75rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap;
  color: var(--text); font-size: .875rem; line-height: 1.625rem; font-weight: 550; border: 1px solid var(--edge); border-radius: .5rem; }
.switcher[open] summary { margin: 0; }
.switcher summary:hover { background: var(--accent-soft); }
.choices-list { position: absolute; z-index: 3; top: calc(100% + .25rem); left: 0; display: grid; gap: .25rem; width: 18rem; max-width: calc(100vw - 2rem);
  max-height: 60vh; overflow-y: auto; padding: .5rem; background: var(--surface); border: 1px solid var(--line); border-radius: .5rem;
  box-shadow: 0 8px 24px rgb(10 12 20 / 18%); }
.choices-list button { width: 100%; overflow: hidden; text-overflow: ellipsis; text-align: left; font-weight: 400; border: 0; }
.choices-list a { padding: .375rem .75rem; font-size: .9375rem; }
@media (min-width: 62rem) {
  .console { display: grid; grid-template: auto 1fr / 13.75rem minmax(0, 1fr); }
  .console .bar { grid-column: 1 / -1; }
  .menu-button { display: none; }
  .menu > div { position: sticky; top: 1rem; max-height: calc(100vh - 2rem); overflow-y: auto; }
}
@media (max-width: 61.99rem) {
  .menu { border-right: 0; border-bottom: 1px solid var(--line); }
  .menu ul { display: grid; grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr)); }
  .menu a { padding-block: .5rem; }
}
@media (max-width: 61.99rem) and (scripting: enabled) { body:not(.menu-open) > .menu { display: none; } }
@media (scripting: none) { .menu-button { display: none; } }
main { margin: 0 auto; padding: 2rem 1rem 4rem; }
main.narrow { max-width: 29rem; padding-top: max(2rem, 10vh); }
.console main { width: 100%; max-width: 100rem; margin: 0; padding: .875rem 1.5rem 3rem; }
.console main.narrow { margin: 0 auto; max-width: 29rem; }
.no-connection { position: fixed; inset: auto 1rem 1rem; z-index: 2; width: fit-content; max-width: calc(100% - 2rem); margin: 0 auto; padding: 0.625rem 1rem; border: 1px solid var(--edge); border-radius: .5rem; color: var(--text); background: var(--surface); box-shadow: var(--shadow); }
.console main:is(.wide, .application) { font-size: .875rem; line-height: 1.25rem; }
.console main:is(.wide, .application) .small { font-size: .75rem; line-height: 1rem; }
.console h1 { font-size: 1.25rem; }
.console main.wide .lead { margin-bottom: 1rem; }
.console main.wide .card { padding: .875rem 1rem 1rem; margin-bottom: 1rem; border-radius: .625rem; }
.console main.wide .card > h2:first-child { font-size: .875rem; min-height: 2rem; margin-bottom: .5rem; display: flex; align-items: center; }

.card { background: var(--surface); border: 1px solid var(--line); border-radius: .75rem; box-shadow: var(--shadow);
  padding: 1.5rem; margin: 0 0 1.25rem; }
.row { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; justify-content: space-between; }
.row > :first-child { flex: 1 1 10rem; min-width: 0; overflow-wrap: anywhere; }
.actions { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; }
ul.list { list-style: none; margin: 0; padding: 0; }
ul.list > li { padding: .875rem 0; border-top: 1px solid var(--line); }
ul.list > li:first-child { border-top: 0; padding-top: 0; }
ul.list > li:last-child { padding-bottom: 0; }
dl.facts { display: grid; grid-template-columns: max-content 1fr; gap: .5rem 1.25rem; margin: 0 0 1rem; }
dl.facts dt { color: var(--muted); }
dl.facts dd { margin: 0; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .625rem 1rem .625rem 0; border-bottom: 1px solid var(--line); }
th { color: var(--muted); font-size: .875rem; font-weight: 550; }
.number + :not(.number) { padding-left: 1rem; }
.scroll + p { margin-top: .75rem; }
tfoot :is(th, td) { border-bottom: 0; color: var(--text); font-size: 1rem; font-weight: 650; }
:is(th, td).number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
:is(th, td).number:last-child { padding-right: 0; }

.summary { display: grid; grid-template-columns: repeat(auto-fill, minmax(7.5rem, 1fr)); gap: .5rem 1rem; margin: 0 0 1rem; }
.summary dt { color: var(--muted); font-size: .75rem; }
.summary dd { margin: 0; font-size: 1.25rem; font-variant-numeric: tabular-nums; }
.operations { columns: 29rem; column-gap: 1rem; }
.operations .card { break-inside: avoid; }
.operations dl.facts { gap: .25rem 1rem; }
.findings h2 { font-size: .875rem; margin: 0 0 .25rem; }
.findings ul { margin: 0; padding-left: 1.25rem; }
.operations :is(th, td) { padding: .25rem .625rem .25rem 0; font-size: .8125rem; }
.operations td:first-child { min-width: 9.5rem; }
.operations td code { font-size: .75rem; white-space: nowrap; }
.operations td code.id { display: inline-block; min-width: 7rem; white-space: normal; overflow-wrap: anywhere; }
.operations td code.statement { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; min-width: 15rem; white-space: normal; }

label, legend { display: block; font-weight: 550; margin-bottom: .375rem; padding: 0; }
.hint { color: var(--muted); font-size: .875rem; margin: -.125rem 0 .5rem; }
.field { margin: 0 0 1rem; max-width: 32rem; }
label.inline { margin: 0; font-weight: 400; }
input.few:not([type=checkbox]) { width: 5.5rem; }
fieldset { border: 0; margin: 0 0 1rem; padding: 0; min-width: 0; }
label.check { display: flex; gap: .625rem; align-items: baseline; font-weight: 400; margin: 0; padding: .375rem 0; }
label.check code { white-space: nowrap; }
label.check input { flex: none; width: 1.0625rem; height: 1.0625rem; margin: 0; accent-color: var(--accent); transform: translateY(.125rem); }
input:not([type=checkbox], [type=radio], [type=hidden]), select, textarea { width: 100%; min-height: 2.75rem;
  padding: .5rem .75rem; font: inherit; color: inherit; background: var(--surface); border: 1px solid var(--edge); border-radius: .5rem; }
.groups { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 17rem), 1fr)); gap: .75rem 2rem; margin-top: .75rem; }
fieldset.group { margin: 0; }
.group legend { font-size: .875rem; color: var(--muted); margin-bottom: 0; }
.choices { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; }
label.choice { display: flex; gap: .5rem; align-items: center; min-height: 2.75rem; padding: .5rem .875rem; margin: 0; font-weight: 400; border: 1px solid var(--edge); border-radius: .5rem; cursor: pointer; }
label.choice:has(:checked) { border-color: var(--accent); background: var(--accent-soft); }
label.choice:has(:focus-visible) { outline: 3px solid var(--accent); outline-offset: 2px; }
label.choice input { flex: none; width: 1.0625rem; height: 1.0625rem; margin: 0; accent-color: var(--accent); outline: none; }
input:user-invalid { border-color: var(--danger); }
input.code { font-size: 1.5rem; letter-spacing: .35em; text-align: center; }
button, .button { display: inline-block; min-height: 2.75rem; padding: .5625rem 1.125rem; font: inherit; font-weight: 600; line-height: 1.5;
  color: var(--on-accent); background: var(--accent); border: 1px solid transparent; border-radius: .5rem; cursor: pointer; text-decoration: none; }
:is(button, .button).slim, .console main.wide .list :is(button, .button) { display: inline-flex; align-items: center; min-height: 1.75rem;
  padding: 0 .625rem; font-size: .8125rem; white-space: nowrap; border-radius: .375rem; }
button:hover, .button:hover { background: var(--accent-strong); color: var(--on-accent); }
button.quiet, .button.quiet { color: var(--text); background: transparent; border-color: var(--line); font-weight: 500; }
button.quiet:hover, .button.quiet:hover { background: var(--accent-soft); color: var(--text); }
button.danger { color: var(--danger); background: transparent; border-color: var(--danger); }
button.danger:hover { background: var(--danger-soft); color: var(--danger); }
button.danger.sure { color: var(--surface); background: var(--danger); }
button.danger.sure:hover { color: var(--surface); background: var(--danger-strong); }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
button.link { min-height: 0; padding: 0; color: var(--accent); background: none; font-weight: 400; text-decoration: underline; text-underline-offset: .15em; }
button.full, .button.full { width: 100%; text-align: center; }
.note { border: 1px solid var(--line); border-left: 4px solid var(--accent); border-radius: .5rem; background: var(--accent-soft);
  padding: .75rem 1rem; margin: 0 0 1rem; overflow-wrap: anywhere; }
.note.error { border-left-color: var(--danger); background: var(--danger-soft); }
.note.good { border-left-color: var(--good); background: var(--good-soft); }
.tag { display: inline-block; padding: .0625rem .5rem; font-size: .8125rem; border: 1px solid var(--line); border-radius: 1rem; color: var(--muted); white-space: nowrap; }
.tag.bad { color: var(--danger); background: var(--danger-soft); border-color: transparent; }
.figure { font-size: 1.125rem; }
.figure strong { font-size: 2rem; line-height: 1.2; letter-spacing: -.02em; }
.message { white-space: pre-wrap; overflow-wrap: anywhere; margin-bottom: .25rem; }
.tag.good { color: var(--good); background: var(--good-soft); border-color: transparent; }
summary { cursor: pointer; color: var(--accent); }
details[open] > summary { margin-bottom: .75rem; }
.more { border-top: 1px solid var(--line); margin-top: 1rem; padding-top: 1rem; }
details.confirm > summary { display: inline-block; list-style: none; padding: .3125rem .875rem; font-weight: 600; color: var(--danger); border: 1px solid var(--edge); border-radius: .5rem; }
details.confirm > summary::-webkit-details-marker { display: none; }
details.confirm > summary:hover { background: var(--danger-soft); border-color: var(--danger); }
details.confirm[open] { position: relative; flex-basis: 100%; padding: 1rem; background: var(--danger-soft); border-radius: .5rem; }
details.confirm[open] > summary { position: absolute; top: .75rem; right: .75rem; color: var(--text); }
details.confirm[open] p { min-height: 2.25rem; margin: 0 6rem .5rem 0; }
details[open] > summary > .closed, details:not([open]) > summary > .opened { display: none; }
.or { display: flex; gap: .75rem; align-items: center; margin: 1rem 0; color: var(--muted); font-size: .875rem; }
.stacked { display: grid; gap: .75rem; }
.or::before, .or::after { content: ""; flex: 1; border-top: 1px solid var(--line); }

@media (min-width: 36rem) and (pointer: fine) {
  .console main :is(button, .button, input:not([type=checkbox], [type=radio]), select, textarea, label.choice):not(.slim, .link, .filters *) { min-height: 2.25rem; padding-block: .25rem; }
}
@media (max-width: 36rem) {
  main { padding: 1.25rem .875rem 3rem; }
  main.narrow { padding-top: 1.25rem; }
  .card { padding: 1.25rem 1rem; }
  .console main { padding: 1.25rem .875rem 3rem; }
  .bar { gap: .5rem; padding-inline: .875rem; }
  .console .brand > span { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
  .palette-button kbd, .help-button { display: none; }
  .palette-button > span { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  dl.facts { grid-template-columns: 1fr; gap: 0; }
  th, td { padding-right: .625rem; }
  dl.facts dd { margin-bottom: .625rem; }
}
@media print {
  :root { color-scheme: light; --ground: #fff; --surface: #fff; --text: #000; --muted: #444; --line: #bbb; --shadow: none;
    --good: #000; --good-soft: #fff; --accent: #000; --accent-soft: #fff; }
  .bar, .menu, .skip, .above, .screen { display: none; }
  .console { display: block; }
  main, .console main { max-width: none; padding: 0; }
  .card { border: 0; border-radius: 0; padding: 0; }
  tr, dl.facts { break-inside: avoid; }
}
@media (prefers-reduced-motion: no-preference) { button, .button { transition: background .12s; } }
`;

export const productIcon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#2f4bd8"/>
<path d="M9 22 16 10l7 12" fill="none" stroke="#fff" stroke-width="2.25" stroke-linecap="round" stroke-linejoin="round"/>
<g fill="#fff"><circle cx="16" cy="9.5" r="3.25"/><circle cx="9" cy="22" r="3.25"/><circle cx="23" cy="22" r="3.25"/></g></svg>
`;
