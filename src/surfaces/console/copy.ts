// The console's only script: it makes copy buttons work. A page is whole without it; then the button stays hidden, and one
// click on the secret selects it.

export const copyScript = `
for (const button of document.querySelectorAll('button[data-copies]')) {
  const source = document.getElementById(button.dataset.copies);
  const status = document.getElementById(button.dataset.status);
  button.hidden = false;
  button.addEventListener('click', async () => {
    let copied = true;
    try {
      // Only where the connection is safe from eavesdroppers.
      await navigator.clipboard.writeText(source.textContent);
    } catch {
      getSelection().selectAllChildren(source);
      copied = document.execCommand('copy');
    }
    status.textContent = copied ? 'Copied.' : 'Select it and copy it by hand.';
  });
}
`;
