// A row of a list of tokens, with the button that revokes the token.
import type { ComponentChildren } from 'preact';
import { now } from './page.ts';
import { Action, Pill } from './pieces.tsx';
import { Day, Time } from './words.tsx';

interface TokenRowProperties {
  token: {
    name: string;
    createdAt: number;
    createdBy?: { name: string } | null;
    lastUsedAt: number | null;
    revokedAt: number | null;
    /** Absent for a token that does not expire. */
    expiresAt?: number;
  };
  /** Consequence of the revocation. */
  question: string;
  revoke(key: string): Promise<unknown>;
  /** More facts about the token, shown at the end of the line with its dates. */
  children?: ComponentChildren;
}

export function TokenRow({ token, question, revoke, children }: TokenRowProperties) {
  const { name, createdAt, createdBy, lastUsedAt, revokedAt, expiresAt } = token;
  const hasExpired = expiresAt !== undefined && expiresAt <= now();
  return (
    <li class="next-row wrap">
      <div class="grow">
        <strong class="break">
          <bdi>{name}</bdi>
        </strong>
        <div class="muted small break">
          created <Time at={createdAt} />
          {createdBy && (
            <>
              {' by '}
              <bdi>{createdBy.name}</bdi>
            </>
          )}
          {expiresAt !== undefined && (
            <>
              {' · expires '}
              <Day at={expiresAt} />
            </>
          )}
          {lastUsedAt === null ? ' · never used' : ' · last used '}
          {lastUsedAt !== null && <Time at={lastUsedAt} />}
          {children}
        </div>
      </div>
      {revokedAt === null && !hasExpired ? (
        <Action
          label="Revoke"
          describes={`Revoke the token ${name}`}
          class="danger slim"
          question={question}
          act={revoke}
        />
      ) : (
        <Pill status={revokedAt === null ? 'expired' : 'revoked'} />
      )}
    </li>
  );
}
