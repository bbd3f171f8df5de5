// The script of pages with passkeys: the bundle of @simplewebauthn/browser, then this one. It fetches the options, runs the WebAuthn
// ceremony, and submits the result as a form.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const ours = `
(() => {
  const { browserSupportsWebAuthn, browserSupportsWebAuthnAutofill, startAuthentication, startRegistration } = SimpleWebAuthnBrowser;
  if (!browserSupportsWebAuthn()) return;

  const reasons = {
    NotAllowedError: 'No passkey was used. Try again, or continue without one.',
    InvalidStateError: 'This device already has a passkey for your account.',
  };
  const run = async (form, more) => {
    const creates = form.dataset.passkey === 'create';
    const body = new URLSearchParams(new FormData(form));
    const answer = await window.fetch(form.dataset.options, { method: 'POST', body });
    if (!answer.ok || answer.redirected) throw new Error('The service did not respond as expected. Reload the page.');
    const optionsJSON = await answer.json();
    const credential = await (creates ? startRegistration : startAuthentication)({ optionsJSON, ...more });
    form.elements.credential.value = JSON.stringify(credential);
    form.submit();
  };

  // Only one ceremony runs at a time: a new one aborts the one in progress.
  let isAsked = false;
  for (const form of document.querySelectorAll('form[data-passkey]')) {
    const status = form.querySelector('[role=status]');
    form.closest('[data-needs-passkeys]').hidden = false;
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      status.hidden = true;
      isAsked = true;
      try {
        await run(form, {});
      } catch (error) {
        status.textContent = reasons[error.name] ?? error.message;
        status.hidden = false;
        isAsked = false;
        suggest();
      }
    });
  }

  // Passkeys are suggested in the email field, unless one was just refused. The challenge behind the suggestions expires after five
  // minutes.
  const signIn = document.querySelector('form[data-passkey=sign-in]');
  const suggest = async () => {
    if (!signIn || isAsked || document.getElementById('form-error') || !(await browserSupportsWebAuthnAutofill())) return;
    await run(signIn, { useBrowserAutofill: true }).catch(() => {});
  };
  suggest();
  setInterval(suggest, 4 * 60_000);
})();
`;

export async function passkeyScript(): Promise<string> {
  const main = createRequire(import.meta.url).resolve('@simplewebauthn/browser');
  const bundle = await readFile(join(dirname(main), '../dist/bundle/index.umd.min.js'), 'utf8');
  return bundle + ours;
}
