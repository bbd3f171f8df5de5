// The script of a signed-in person's pages. Every page works without it: the menu is open on a phone.

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
`;
