// The trackers, source hosts and language models that the organization has connected. Keys of models are set here; those of trackers
// and source hosts are the operator's.
import { integrations } from './documents.ts';
import { Heading } from './heading.tsx';
import { ConnectModel, type Connector, ModelActions } from './models.tsx';
import { may } from './page.ts';
import { Card, Commands, Shown, Skeleton } from './pieces.tsx';
import { listIn, useReading } from './reading.ts';
import { plural, Time } from './words.tsx';

const kinds = { tracker: 'Tracker', scm: 'Source host', llm: 'Language models' } as const;

export function Integrations() {
  const reading = useReading(integrations, {});
  const mayWrite = may('orchestrator:write');
  return (
    <>
      <Heading title="Integrations" />
      <div class="columns">
        <Card title="Connected">
          <Shown
            list={listIn(reading, (data) => data.integrations.integrations)}
            skeleton={<Skeleton rows={3} height={54} />}
            empty={<p>Nothing is connected. Projects keep their issues in the console until then.</p>}
          >
            {(rows) => (
              <ul class="rows">
                {rows.map((one) => (
                  <li key={one.id}>
                    <Facts connector={one} />
                    {one.vendorKind === 'llm' && mayWrite && <ModelActions connector={one} read={reading.read} />}
                  </li>
                ))}
              </ul>
            )}
          </Shown>
        </Card>
        <div class="column">
          {mayWrite && <ConnectModel read={reading.read} />}
          <Card title="Connect a tracker or a source host">
            <p>
              The operator of this service connects them and replaces their credentials, which the command reads from
              standard input:
            </p>
            <Commands>{`npm run --silent admin -- integration:create --org SLUG \\
  --vendor github --kind scm --name GitHub
npm run --silent admin -- integration:credentials --help`}</Commands>
          </Card>
        </div>
      </div>
    </>
  );
}

const Facts = ({ connector }: { connector: Connector }) => {
  const { displayName, vendor, vendorKind, externalOrgId, dependentProjectCount, updatedAt, checkFailure } = connector;
  return (
    <div class="next-row">
      <div class="grow">
        <strong class="break">{displayName}</strong>
        <div class="muted small break">{[kinds[vendorKind], vendor, externalOrgId].filter(Boolean).join(' · ')}</div>
        {checkFailure && <div class="small bad-text break">{checkFailure}</div>}
        {vendorKind === 'llm' && connector.checkedAt !== null && !checkFailure && (
          <div class="small muted">
            The key was accepted <Time at={connector.checkedAt} />.
          </div>
        )}
        {!connector.hasCredentials && vendorKind === 'llm' && <div class="small muted">It has no key.</div>}
      </div>
      <div class="when">
        {plural(dependentProjectCount, 'project')}
        <div>
          <Time at={updatedAt} />
        </div>
      </div>
    </div>
  );
};
