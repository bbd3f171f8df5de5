// The script of the pages for signed-in people. It opens and closes the menu, changes the theme, and keeps the current page open while
// there is no connection. Every page also works without the script: the menu on a phone is then always open.

export const consoleScript = `
const menu = document.querySelector('.menu-button');
const toggle = (isOpen) => {
  menu.setAttribute('aria-expanded', isOpen);
  document.body.classList.toggle('menu-open', isOpen);
};
menu.addEventListener('click', () => toggle(menu.ariaExpanded !== 'true'));
const switcher = document.querySelector('details.switcher');
addEventListener('click', ({ target }) => {
  if (switcher && !switcher.contains(target)) switcher.open = false;
  if (target.closest?.('.menu a')) toggle(false);
});
addEventListener('keydown', ({ key }) => {
  if (key !== 'Escape') return;
  if (switcher?.open) {
    switcher.open = false;
    switcher.querySelector('summary').focus();
  } else if (menu.ariaExpanded === 'true') {
    toggle(false);
    menu.focus();
  }
});
// The server writes the theme into the page, so that the page does not flash.
const theme = document.querySelector('.theme select');
theme.value = document.documentElement.dataset.theme ?? '';
theme.parentElement.hidden = false;
theme.addEventListener('change', ({ target: { value } }) => {
  document.cookie = 'theme=' + value + '; path=/; samesite=lax; max-age=' + (value ? 34560000 : 0);
  if (value) document.documentElement.dataset.theme = value;
  else delete document.documentElement.dataset.theme;
  dispatchEvent(new Event('themechange'));
});
const note = document.createElement('p');
note.className = 'no-connection';
note.role = 'alert';
let proceed;
const stay = (event, text, next) => {
  if (navigator.onLine || event.defaultPrevented) return;
  event.preventDefault();
  proceed = next;
  note.textContent = 'You are offline. ' + text;
  document.body.append(note);
};
addEventListener('online', () => {
  note.remove();
  proceed?.();
});
addEventListener('click', (event) => {
  const link = event.target.closest?.('a[href]');
  if (!link || link.origin !== location.origin || (link.hash && link.pathname === location.pathname)) return;
  // Links between pages of the application are left to the application, which waits for a connection itself.
  if (document.getElementById('application') && link.pathname.startsWith('/console/o/')) return;
  stay(event, 'The page opens when there is a connection again.', () => location.assign(link.href));
});
addEventListener('submit', (event) => stay(event, 'Nothing was sent: send it again when there is a connection.'));
`;
