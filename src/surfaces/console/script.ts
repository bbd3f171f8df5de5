// The script of a signed-in person's pages. Every page works without it: the menu is open on a phone, a click on a secret selects it,
// presets are links, and the server counts scopes too.

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

for (const button of document.querySelectorAll('button[data-copies]')) {
  const source = document.getElementById(button.dataset.copies);
  const status = document.getElementById(button.dataset.status);
  button.hidden = false;
  button.addEventListener('click', async () => {
    let copied = true;
    try {
      // Available in secure contexts only.
      await navigator.clipboard.writeText(source.textContent);
    } catch {
      getSelection().selectAllChildren(source);
      copied = document.execCommand('copy');
    }
    status.textContent = copied ? 'Copied.' : 'Select the token and copy it.';
  });
}

for (const fieldset of document.querySelectorAll('fieldset[data-most]')) {
  const boxes = [...fieldset.querySelectorAll('input[name=scopes]')];
  const most = Number(fieldset.dataset.most);
  const counter = fieldset.querySelector('[role=status]');
  const count = () => {
    const selected = boxes.filter((box) => box.checked).length;
    counter.textContent = selected + ' of at most ' + most + ' scopes selected.';
    boxes[0].setCustomValidity(selected > most ? 'Select at most ' + most + ' scopes.' : '');
  };
  fieldset.addEventListener('change', count);
  for (const preset of fieldset.querySelectorAll('a[data-scopes]')) {
    preset.addEventListener('click', (event) => {
      event.preventDefault();
      const scopes = preset.dataset.scopes.split(' ');
      for (const box of boxes) box.checked = scopes.includes(box.value);
      count();
    });
  }
  count();
}
`;
