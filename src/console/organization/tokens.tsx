// A person's access tokens: active tokens with their last use, expired and revoked tokens, and the form for a new one.
import { useState } from 'preact/hooks';
import { revokeToken, type TokensQuery, tokens } from '../generated/documents.ts';
import { Access, Ended, LastUsed, Revoke } from '../integrations/credentials.tsx';
import { mutate } from '../kit/client.ts';
import { CopyAs } from '../kit/copy-as.tsx';
import { Heading } from '../kit/heading.tsx';
import { RowList } from '../kit/list-view.tsx';
import { now } from '../kit/page.ts';
import { Card, Skeleton, StatusMessage } from '../kit/pieces.tsx';
import { listFrom, usePolledReading } from '../kit/reading.ts';
import { Time } from '../kit/words.tsx';
import { NewToken } from './token-new.tsx';

type Token = TokensQuery['tokens']['data'][number];

const isActive = ({ revokedAt, expiresAt }: Token): boolean => revokedAt === null && expiresAt > now();

export function Tokens() {
  const reading = usePolledReading(tokens, {});
  const [said, say] = useState('');
  const revoke = async (tokenId: string, key: string) => {
    const { kind } = (await mutate(revokeToken, { tokenId }, key)).revokeToken;
    say(kind === 'revoked' ? 'Token revoked. It stopped working at once.' : 'This token was already revoked.');
    reading.read();
  };
  return (
    <>
      <Heading title="Personal access tokens">
        <CopyAs
          graphql="{ tokens { data { id name scopes expiresAt lastUsedAt revokedAt } } }"
          cli="aep tokens"
          isPersonal
        />
      </Heading>
      <p class="muted about">A token lets a program act as you in this organization, within the scopes you select.</p>
      <StatusMessage words={said} />
      <div class="stack">
        <Card title="Your tokens">
          <RowList
            list={listFrom(reading, (data) => data.tokens.data.filter(isActive))}
            skeleton={<Skeleton rows={2} height={64} />}
            empty={<p>No tokens yet. A token lets a script or CI job call the API as you. Create one below.</p>}
          >
            {(token) => <Row key={token.id} token={token} revoke={(key) => revoke(token.id, key)} />}
          </RowList>
          <Ended
            rows={(reading.data?.tokens.data ?? [])
              .filter((token) => !isActive(token))
              .map(({ id, name, createdAt, expiresAt, revokedAt }) => ({
                id,
                name,
                words: (
                  <>
                    Created <Time at={createdAt} /> · {revokedAt === null ? 'Expired' : 'Revoked'}{' '}
                    <Time at={revokedAt ?? expiresAt} />
                  </>
                ),
              }))}
          />
        </Card>
        <NewToken read={reading.read} />
      </div>
    </>
  );
}

const Row = ({ token, revoke }: { token: Token; revoke(key: string): Promise<unknown> }) => (
  <li class="next-row wrap">
    <div class="grow">
      <strong class="break">
        <bdi>{token.name}</bdi>
      </strong>
      <div class="muted small">
        <LastUsed at={token.lastUsedAt} /> · Created <Time at={token.createdAt} /> · Expires{' '}
        <Time at={token.expiresAt} />
      </div>
      <Access {...token} />
    </div>
    <Revoke name={token.name} warning="Programs that use the token stop working at once." act={revoke} />
  </li>
);
