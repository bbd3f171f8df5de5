// Parts shared by tokens and connected agents: access, revocation, and the list of ended credentials.
import type { ComponentChildren } from 'preact';
import { may } from '../kit/page.ts';
import { Action } from '../kit/pieces.tsx';
import { Time } from '../kit/words.tsx';

interface AccessProperties {
  projectId: string | null;
  /** The project to which the credential is bound; null for none, and for a deleted project. */
  project: { name: string } | null;
  scopes: readonly string[];
}

/** The bound project and the scopes, with a note on scopes that the person's role no longer includes. */
export function Access({ projectId, project, scopes }: AccessProperties) {
  const lost = scopes.filter((scope) => !may(scope));
  return (
    <>
      <ul class="tags" aria-label="Access">
        <li class="tag">{projectId === null ? 'Whole organization' : `Only ${project?.name ?? projectId}`}</li>
        {scopes.map((scope) => (
          <li key={scope}>
            <code>{scope}</code>
          </li>
        ))}
      </ul>
      {lost.length > 0 && (
        <p class="hint">Your role no longer includes {lost.join(', ')}, so these scopes have no effect.</p>
      )}
    </>
  );
}

interface RevokeProperties {
  name: string;
  /** A sentence that says what the revocation ends. */
  warning: string;
  act(key: string): Promise<unknown>;
}

export const Revoke = ({ name, warning, act }: RevokeProperties) => (
  <Action
    label="Revoke"
    describes={`Revoke ${name}`}
    class="danger slim"
    question={`${warning} This cannot be undone.`}
    act={act}
  />
);

export const Ended = ({ rows }: { rows: readonly { id: string; name: string; words: ComponentChildren }[] }) =>
  rows.length > 0 ? (
    <details class="more">
      <summary>Expired and revoked ({rows.length})</summary>
      <ul class="rows">
        {rows.map(({ id, name, words }) => (
          <li key={id} class="break">
            <bdi>{name}</bdi> <span class="muted small">· {words}</span>
          </li>
        ))}
      </ul>
    </details>
  ) : null;

export const LastUsed = ({ at }: { at: number | null }) =>
  at === null ? (
    <>Never used</>
  ) : (
    <>
      Last used <Time at={at} />
    </>
  );
