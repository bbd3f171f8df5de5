// A list of tokens of the organization, each with the button that revokes it.
import type { ComponentChildren } from 'preact';
import { RowList } from './list-view.tsx';
import { now } from './page.ts';
import { Action, Card, Pill, Skeleton } from './pieces.tsx';
import type { List } from './reading.ts';
import { Day, Time } from './words.tsx';

interface Token {
  id: string;
  name: string;
  createdAt: number;
  createdBy?: { name: string } | null;
  lastUsedAt: number | null;
  revokedAt: number | null;
  /** Absent for a token that does not expire. */
  expiresAt?: number;
}

interface Properties {
  /** Consequence of the revocation. */
  question: string;
  revoke(id: string, key: string): Promise<unknown>;
  /** More facts about the token, shown at the end of the line with its dates. */
  children?(token: Token): ComponentChildren;
}

interface CardProperties extends Properties {
  list: List<Token>;
  empty: string;
}

export const TokensCard = ({ list, empty, ...properties }: CardProperties) => (
  <Card title="Tokens">
    <RowList list={list} skeleton={<Skeleton rows={2} height={54} />} empty={<p>{empty}</p>}>
      {(token) => <TokenRow key={token.id} token={token} {...properties} />}
    </RowList>
  </Card>
);

function TokenRow({ token, question, revoke, children }: Properties & { token: Token }) {
  const { id, name, createdAt, createdBy, lastUsedAt, revokedAt, expiresAt } = token;
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
          {children?.(token)}
        </div>
      </div>
      {revokedAt === null && !hasExpired ? (
        <Action
          label="Revoke"
          describes={`Revoke the token ${name}`}
          class="danger slim"
          question={question}
          act={(key) => revoke(id, key)}
        />
      ) : (
        <Pill status={revokedAt === null ? 'expired' : 'revoked'} />
      )}
    </li>
  );
}
