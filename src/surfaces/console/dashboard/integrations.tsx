// The trackers, source hosts and language models that the organization has connected. Their credentials are the operator's to set.
import { integrations } from './documents.ts';
import { Heading } from './heading.tsx';
import { Card, Commands, Shown, Skeleton } from './pieces.tsx';
import { listIn, useReading } from './reading.ts';
import { plural, Time } from './words.tsx';

const kinds = { tracker: 'Tracker', scm: 'Source host', llm: 'Language models' } as const;

export function Integrations() {
  const reading = useReading(integrations, {});
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
                {rows.map(
                  ({ id, displayName, vendor, vendorKind, externalOrgId, dependentProjectCount, updatedAt }) => (
                    <li key={id} class="next-row">
                      <div class="grow">
                        <strong class="break">{displayName}</strong>
                        <div class="muted small break">
                          {[kinds[vendorKind], vendor, externalOrgId].filter(Boolean).join(' · ')}
                        </div>
                      </div>
                      <div class="when">
                        {plural(dependentProjectCount, 'project')}
                        <div>
                          <Time at={updatedAt} />
                        </div>
                      </div>
                    </li>
                  ),
                )}
              </ul>
            )}
          </Shown>
        </Card>
        <Card title="Connect or rotate">
          <p>
            Credentials of other services do not pass through this console. The operator of this service sets them, and
            the command reads them from standard input:
          </p>
          <Commands>{`npm run --silent admin -- integration:create --org SLUG \\
  --vendor github --kind scm --name GitHub
npm run --silent admin -- integration:credentials --help`}</Commands>
        </Card>
      </div>
    </>
  );
}
