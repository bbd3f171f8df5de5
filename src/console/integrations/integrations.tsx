// The trackers, source hosts and language models that the organization has connected.

import { integrations } from '../generated/documents.ts';
import { CopyAs } from '../kit/copy-as.tsx';
import { Heading } from '../kit/heading.tsx';
import { ListView } from '../kit/list-view.tsx';
import { may } from '../kit/page.ts';
import { Card, Pill, Skeleton } from '../kit/pieces.tsx';
import { listFrom, useReading } from '../kit/reading.ts';
import { vendors } from '../kit/vendors.tsx';
import { plural, Time } from '../kit/words.tsx';
import { Chats } from './chats.tsx';
import { NamedModels } from './connector-models.tsx';
import { Connect, type Connector, ConnectorActions, kinds } from './connectors.tsx';

export function Integrations() {
  const reading = useReading(integrations, {});
  const mayWrite = may('integrations:write');
  return (
    <>
      <Heading title="Integrations">
        <CopyAs
          path="/integrations"
          graphql="{ integrations { integrations { id displayName vendor vendorKind checkedAt checkFailure } } }"
          client="client.integrations()"
        />
      </Heading>
      <div class="columns">
        <Card title="Connected">
          <ListView
            list={listFrom(reading, (data) => data.integrations.integrations)}
            skeleton={<Skeleton rows={3} height={54} />}
            empty={
              <p>Nothing is connected. A project needs a tracker for its issues and a source host for its code.</p>
            }
          >
            {(rows) => (
              <ul class="rows">
                {rows.map((one) => (
                  <li key={one.id}>
                    <Facts connector={one} />
                    {mayWrite && <ConnectorActions connector={one} others={rows} read={reading.read} />}
                  </li>
                ))}
              </ul>
            )}
          </ListView>
        </Card>
        <div class="column">
          {mayWrite ? (
            <Connect read={reading.read} />
          ) : (
            <Card title="Connect">
              <p>Owners and admins can connect vendors and replace their credentials.</p>
            </Card>
          )}
          <Chats changed={reading.read} />
        </div>
      </div>
    </>
  );
}

const Facts = ({ connector }: { connector: Connector }) => {
  const { displayName, vendor, vendorKind, externalOrgId, baseUrl, dependentProjectCount } = connector;
  const about = [kinds[vendorKind], vendors[vendor], externalOrgId, baseUrl];
  return (
    <div class="next-row link-row">
      <Pill status={statusOf(connector)} />
      <div class="grow">
        <strong class="break">
          <bdi>{displayName}</bdi>
        </strong>
        <div class="muted small break">{about.filter(Boolean).join(' · ')}</div>
        <State connector={connector} />
        <NamedModels connector={connector} />
      </div>
      <div class="when">{plural(dependentProjectCount, 'project')}</div>
    </div>
  );
};

function statusOf({ vendor, hasCredentials, brokenSince, checkFailure }: Connector): string {
  if (vendor === 'builtin') return 'connected';
  if (!hasCredentials) return 'needs auth';
  return brokenSince !== null || checkFailure ? 'error' : 'connected';
}

/** Result of the last check of the credentials. */
function State({ connector }: { connector: Connector }) {
  const { vendor, hasCredentials, brokenSince, checkFailure, checkedAt, updatedAt, pausedUntil } = connector;
  if (vendor === 'builtin') return null;
  if (!hasCredentials) return <div class="small muted">The connector has no credentials.</div>;
  return (
    <>
      {checkFailure && <div class="small bad-text break">{checkFailure}</div>}
      {!checkFailure && brokenSince !== null && (
        <div class="small bad-text">
          The vendor has been rejecting the credentials since <Time at={brokenSince} />.
        </div>
      )}
      {pausedUntil !== null && pausedUntil > Date.now() && (
        <div class="small muted">
          {vendors[vendor]} limits the rate of requests: calls wait until <Time at={pausedUntil} />.
        </div>
      )}
      <div class="small muted">
        {checkedAt === null ? 'Not checked yet' : 'Checked '}
        {checkedAt !== null && <Time at={checkedAt} />} · credentials set <Time at={updatedAt} />
      </div>
    </>
  );
}
