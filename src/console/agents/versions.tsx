// The versions of an agent: who changed what and why. A person compares two, restores one, or tries one with a share of the missions.
import { useState } from 'preact/hooks';
import {
  type AgentQuery,
  type AgentVersionFragment,
  agentVersions,
  compareAgentVersions,
  endAgentTrial,
  restoreAgentVersion,
  startAgentTrial,
} from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';
import { FormFrame, Text } from '../kit/fields.tsx';
import { useReplacedButton } from '../kit/focus.ts';
import { useForm } from '../kit/form.ts';
import { ListView } from '../kit/list-view.tsx';
import { may } from '../kit/page.ts';
import { Action, Card, Pill, Skeleton } from '../kit/pieces.tsx';
import { useList, useReading } from '../kit/reading.ts';
import { TextDifference } from '../kit/text-difference.tsx';
import { Time } from '../kit/words.tsx';
import { standard } from '../templates/template-choice.tsx';

interface Properties {
  agent: AgentQuery['agent'];
  /** Reads the agent again. */
  read(): void;
}

/** The settings as text, one per line. */
const textOf = (one: AgentVersionFragment): string =>
  [
    `Name: ${one.name}`,
    `Role: ${one.role}`,
    `Harness: ${one.harness}`,
    `Model: ${one.model}`,
    `Effort: ${one.effort ?? 'harness default'}`,
    `Sandbox template: ${one.sandboxTemplateId === standard ? 'the project’s' : one.sandboxTemplateId}`,
    `Repositories with skills: ${one.skillRepos.join(', ') || 'none'}`,
    `Instructions:\n${one.userPrompt ?? ''}`,
  ].join('\n');

export function Versions({ agent, read }: Properties) {
  const { id: agentId } = agent;
  const list = useList(agentVersions, { agentId, limit: 20 }, (data) => data.agentVersions);
  const changed = () => {
    list.read();
    read();
  };
  return (
    <Card title="Versions" aside={<span class="muted">Every change is kept</span>}>
      {agent.trialVersion !== null && <Trial agent={agent} read={changed} />}
      <ListView list={list} skeleton={<Skeleton rows={2} height={54} />} empty={<p>No change is recorded yet.</p>}>
        {(rows) => (
          <ul class="rows">
            {rows.map((version) => (
              <VersionRow key={version.id} agent={agent} version={version} all={rows} read={changed} />
            ))}
          </ul>
        )}
      </ListView>
    </Card>
  );
}

function Trial({ agent, read }: Properties) {
  const { id: agentId, trialVersion, trialPercent } = agent;
  const end = (promote: boolean) => async (key: string) => {
    await mutate(endAgentTrial, { agentId, promote }, key);
    read();
  };
  return (
    <div class="note row" role="status">
      <div>
        Version {trialVersion} is on trial: {trialPercent} % of new missions use it.
        <Effect agentId={agentId} first={agent.version} second={trialVersion!} />
      </div>
      {may('agents:write') && (
        <div class="actions">
          <Action label="Use for all missions" class="slim" act={end(true)} />
          <Action label="End trial" act={end(false)} />
        </div>
      )}
    </div>
  );
}

const shareWords = {
  completed: 'completed',
  merged: 'merged',
  reverted: 'reverted',
  endedAtLimit: 'ended at a limit',
} as const;

/** The success rates of the trial version next to those of the current version, from the missions of the last 90 days. */
function Effect({ agentId, first, second }: { agentId: string; first: number; second: number }) {
  const { data } = useReading(compareAgentVersions, { agentId, first, second, days: 90 });
  if (!data) return null;
  const { second: tried, differences } = data.compareAgentVersions;
  if (!tried) return <div class="small">None of its missions has ended yet.</div>;
  return (
    <ul class="small">
      {differences.map(({ share, difference, low, high, isMoreThanChance }) => (
        <li key={share}>
          {points(difference)} {shareWords[share]}, {isMoreThanChance ? 'significant' : 'not significant'} (95 %
          interval {points(low)} to {points(high)})
        </li>
      ))}
    </ul>
  );
}

const points = (share: number): string => `${share < 0 ? '−' : '+'}${Math.abs(Math.round(share * 100))} points`;

interface RowProperties extends Properties {
  version: AgentVersionFragment;
  all: readonly AgentVersionFragment[];
}

function VersionRow({ agent, version, all, read }: RowProperties) {
  const { number, note, author, createdAt } = version;
  const { id: agentId } = agent;
  const { isOpen: isTrying, setOpen: setTrying, button } = useReplacedButton();
  const isPresent = number === agent.version;
  return (
    <li>
      <div class="next-row wrap">
        <div class="grow break">
          <strong>Version {number}</strong> {isPresent && <Pill status="in use" />}
          {number === agent.trialVersion && <Pill status="on trial" />}
          {note && <div>{note}</div>}
          <div class="muted small">
            {author ?? 'A program'} · <Time at={createdAt} />
          </div>
        </div>
        {may('agents:write') && !isPresent && (
          <div class="actions">
            {!isTrying && number !== agent.trialVersion && (
              <button
                ref={button}
                type="button"
                class="quiet slim"
                aria-label={`Try version ${number}`}
                onClick={() => setTrying(true)}
              >
                Try
              </button>
            )}
            <Action
              label="Restore"
              describes={`Restore version ${number}`}
              act={async (key) => {
                await mutate(restoreAgentVersion, { agentId, number }, key);
                read();
              }}
            />
          </div>
        )}
      </div>
      {isTrying && (
        <TryVersion
          agentId={agentId}
          number={number}
          end={(hasStarted) => {
            setTrying(false);
            if (hasStarted) read();
          }}
        />
      )}
      <Comparison version={version} all={all} />
    </li>
  );
}

function TryVersion({ agentId, number, end }: { agentId: string; number: number; end(hasStarted: boolean): void }) {
  const form = useForm({
    name: `trial of ${agentId} ${number}`,
    prefix: `trial-${number}-`,
    initial: { percent: '20' },
    async send({ percent }, key) {
      await mutate(startAgentTrial, { agentId, input: { number, percent: Number(percent) } }, key);
      end(true);
    },
  });
  return (
    <FormFrame form={form} action="Start trial" close={() => end(false)}>
      <Text form={form} name="percent" label="Share of the missions in percent" type="number" required>
        From 1 to 99. All runs on one branch use the same version.
      </Text>
    </FormFrame>
  );
}

/** The difference from another version, by default the previous one. */
function Comparison({ version, all }: Pick<RowProperties, 'version' | 'all'>) {
  const others = all.filter(({ number }) => number !== version.number);
  const [chosen, choose] = useState<number | null>(null);
  const [isOpen, setOpen] = useState(false);
  const other = others.find(({ number }) => number === (chosen ?? version.number - 1)) ?? others.at(-1);
  if (!other) return null;
  const id = `compare-${version.number}`;
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        Compare<span class="unseen"> version {version.number}</span>
      </summary>
      {isOpen && (
        <>
          <label for={id} class="small">
            Compared with
          </label>{' '}
          <select id={id} value={other.number} onChange={({ currentTarget }) => choose(Number(currentTarget.value))}>
            {others.map(({ number }) => (
              <option key={number} value={number}>
                Version {number}
              </option>
            ))}
          </select>
          <TextDifference before={`${textOf(other)}\n`} after={`${textOf(version)}\n`} />
        </>
      )}
    </details>
  );
}
