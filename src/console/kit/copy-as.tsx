// Shows how a program can send the request that this page sends: with curl, GraphQL, the typed client or the command line.
import { useRef, useState } from 'preact/hooks';
import { api } from './page.ts';

/** A button that copies a text and confirms it. */
export function Copy({ text, label, describes }: { text: string; label: string; describes?: string }) {
  const [said, say] = useState('');
  const copy = async () => {
    try {
      // The clipboard is available in secure contexts only.
      await navigator.clipboard.writeText(text);
      say('Copied');
    } catch {
      say('Copy failed');
    }
    setTimeout(() => say(''), 2_000);
  };
  return (
    <>
      <button
        type="button"
        class="quiet slim"
        aria-label={describes && said ? `${said}: ${describes}` : describes}
        onClick={copy}
      >
        {said || label}
      </button>
      <span class="unseen" role="status">
        {said}
      </span>
    </>
  );
}

interface Properties {
  /** Path below the API's URL; absent when REST has no such route. */
  path?: string;
  graphql: string;
  /** TypeScript code that sends the request with the typed client, such as `client.projects()`; absent when only a person can send it. */
  client?: string;
  /** The command of the command-line client `aep` that sends the request; absent when `aep` has no command for this request. */
  cli?: string;
  /** Whether only a signed-in person can do this, not a token. GraphiQL runs as that person. */
  isPersonal?: boolean;
  /** The id of the record that the page shows. If it is present, buttons also copy this id and a link to the page. */
  id?: string;
}

export function CopyAs({ path, graphql, client, cli, isPersonal = false, id }: Properties) {
  const details = useRef<HTMLDetailsElement>(null);
  const curl = (url: string, more = '') => `curl ${more}-H "Authorization: Bearer $TOKEN" '${url}'`;
  const origin = api.replace(/\/v1$/, '');
  const ways: [name: string, text: string][] = [
    ...(path ? [['curl', curl(`${api}${path}`)] as [string, string]] : []),
    isPersonal
      ? ['GraphiQL', graphql]
      : ['GraphQL', curl(`${origin}/graphql`, `--json '${JSON.stringify({ query: graphql })}' `)],
    ...(client ? [['Typed client', `await ${client}`] as [string, string]] : []),
    ...(cli ? [['Command line', cli] as [string, string]] : []),
  ];
  return (
    <details
      class="copy-as"
      ref={details}
      onKeyDown={({ key }) => {
        if (key !== 'Escape' || !details.current?.open) return;
        details.current.open = false;
        details.current.querySelector('summary')?.focus();
      }}
    >
      <summary class="button quiet slim">{id ? 'Copy' : 'Copy as'}</summary>
      <div class="copy-ways">
        {id && (
          <div class="actions">
            <Copy text={location.href} label="Copy link" describes="Copy link to this page" />
            <Copy text={id} label="Copy id" />
          </div>
        )}
        {ways.map(([name, text]) => (
          <div key={name}>
            <div class="row">
              <strong class="small">{name}</strong>
              <Copy text={text} label="Copy" describes={`Copy as ${name}`} />
            </div>
            <code class="small break">{text}</code>
          </div>
        ))}
        {isPersonal && (
          <p class="small">
            A token cannot send this request. In <a href="/graphql">GraphiQL</a>, you send it as yourself.
          </p>
        )}
      </div>
    </details>
  );
}
