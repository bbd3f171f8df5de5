// Access that a person has granted to agents and clients, and its revocation.
import { useState } from 'preact/hooks';
import { type AgentDelegationsQuery, agentDelegations, revokeAgentDelegation } from '../generated/documents.ts';
import { Access, Ended, LastUsed, Revoke } from '../integrations/credentials.tsx';
import { mutate } from '../kit/client.ts';
import { CopyAs } from '../kit/copy-as.tsx';
import { Heading } from '../kit/heading.tsx';
import { RowList } from '../kit/list-view.tsx';
import { api } from '../kit/page.ts';
import { Card, Skeleton, StatusMessage } from '../kit/pieces.tsx';
import { listFrom, usePolledReading } from '../kit/reading.ts';
import { Time } from '../kit/words.tsx';

type Delegation = AgentDelegationsQuery['agentDelegations']['data'][number];

const isActive = ({ status }: Delegation): boolean => status === 'active';

const revokedWords = (count: number): string =>
  `Its access is revoked. ${['It had no active tokens', 'One active token stopped working'][count] ?? `${count} active tokens stopped working`}.`;

export function Delegations() {
  const reading = usePolledReading(agentDelegations, {});
  const [said, say] = useState('');
  const revoke = async (delegationId: string, key: string) => {
    const { kind, revokedTokens } = (await mutate(revokeAgentDelegation, { delegationId }, key)).revokeAgentDelegation;
    say(kind === 'revoked' ? revokedWords(revokedTokens) : 'It was already revoked.');
    reading.read();
  };
  return (
    <>
      <Heading title="Connected agents">
        <CopyAs
          graphql="{ agentDelegations { data { id agentName clientName scopes status lastUsedAt } } }"
          isPersonal
        />
      </Heading>
      <p class="muted about">
        Agents and clients with access to this organization. They act as you, within the scopes you granted.
      </p>
      <StatusMessage words={said} />
      <Card title="Active">
        <RowList
          list={listFrom(reading, (data) => data.agentDelegations.data.filter(isActive))}
          skeleton={<Skeleton rows={2} height={64} />}
          empty={<p>No agent has access yet. An agent or MCP client appears here after you approve its request.</p>}
        >
          {(one) => <Row key={one.id} delegation={one} revoke={(key) => revoke(one.id, key)} />}
        </RowList>
        <Ended
          rows={(reading.data?.agentDelegations.data ?? [])
            .filter((one) => !isActive(one))
            .map((one) => ({
              id: one.id,
              name: nameOf(one),
              words: (
                <>
                  {originOf(one)} · Granted <Time at={one.createdAt} /> ·{' '}
                  {one.status === 'revoked' ? (
                    'Revoked'
                  ) : (
                    <>
                      Expired <Time at={one.expiresAt} />
                    </>
                  )}
                </>
              ),
            }))}
        />
      </Card>
    </>
  );
}

const Row = ({ delegation, revoke }: { delegation: Delegation; revoke(key: string): Promise<unknown> }) => (
  <li class="next-row wrap">
    <div class="grow">
      <strong class="break">
        <bdi>{nameOf(delegation)}</bdi>
      </strong>{' '}
      <span class="tag">{originOf(delegation)}</span>
      <div class="muted small">
        <LastUsed at={delegation.lastUsedAt} /> · Granted <Time at={delegation.createdAt} /> · Expires{' '}
        <Time at={delegation.expiresAt} /> · For {placeOf(delegation)}
      </div>
      <Access {...delegation} />
    </div>
    <Revoke name={nameOf(delegation)} warning="Every token of this program stops working at once." act={revoke} />
  </li>
);

const nameOf = ({ agentName, clientName }: Delegation): string => agentName ?? clientName ?? 'Unnamed';

/** Describes where the grant comes from. The name alone does not identify an agent, because the agent has chosen the name itself. */
function originOf({ registrationType, provider }: Delegation): string {
  if (provider) return `Vouched for by ${new URL(provider).host}`;
  return registrationType === 'authorization_code' ? 'Client that you signed in to' : 'Agent that you claimed';
}

/** An agent gets tokens for the API and for MCP separately, from the same grant. */
function placeOf({ registrationType, resource }: Delegation): string {
  if (registrationType !== 'authorization_code') return 'the API and the MCP server';
  if (resource === api.replace(/\/v1$/, '')) return 'the API';
  return resource.endsWith('/mcp') ? 'the MCP server' : 'the agent-to-agent endpoint';
}
