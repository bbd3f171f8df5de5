// Loads parts of the application. While the connection is lost, the page shows a message; it continues once the service answers. The page
// also stays open when the session ends.
import { useEffect, useRef, useState } from 'preact/hooks';
import { signedOut } from './client.ts';

/** Milliseconds between attempts to reach the service. */
const pause = 2_000;
const reachable = (): Promise<boolean> =>
  fetch('/console/icon.svg', { method: 'HEAD', cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );

/** Number of parts that wait for a connection. */
let waiting = 0;
const changed = new EventTarget();
function wait(more: 1 | -1): void {
  waiting += more;
  changed.dispatchEvent(new Event('change'));
}

/** Resolves once the service answers. */
async function connected(): Promise<void> {
  if (await reachable()) return;
  wait(1);
  do await new Promise((resolve) => setTimeout(resolve, pause));
  while (!(await reachable()));
  wait(-1);
}

/**
 * Imports a module of the console. If the import fails although the service answers, a newer release is running, so the page is reloaded.
 */
export const loaded = <Part,>(load: () => Promise<Part>): Promise<Part> =>
  load().catch(async () => {
    await connected();
    return load().catch(() => {
      location.reload();
      return new Promise<Part>(() => {});
    });
  });

/** A message that says that the page waits for the connection. */
export function Connection() {
  const [isWaiting, setWaiting] = useState(false);
  useEffect(() => {
    const note = () => setWaiting(waiting > 0);
    changed.addEventListener('change', note);
    return () => changed.removeEventListener('change', note);
  }, []);
  return (
    <div role="status">
      {isWaiting && <p class="no-connection">No connection. The page opens when the service can be reached again.</p>}
    </div>
  );
}

/** A message that the session has ended. The dialog receives all key presses, so that typed text does not end up in the sign-in form. */
export function SignedOut() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const show = () => {
      if (!dialog.current!.open) dialog.current!.showModal();
    };
    signedOut.addEventListener('signout', show);
    return () => signedOut.removeEventListener('signout', show);
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby="signed-out" onCancel={(event) => event.preventDefault()}>
      <h2 id="signed-out" tabIndex={-1} autofocus>
        Your session has ended
      </h2>
      <p>Text that you have not sent is kept in this browser. This page opens again after you sign in.</p>
      <button type="button" onClick={() => location.reload()}>
        Sign in
      </button>
    </dialog>
  );
}
