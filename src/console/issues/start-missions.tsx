// Starts a mission on each selected issue.
import { useMemo, useState } from 'preact/hooks';
import { type IssueRowFragment, type StartMissionsMutation, startMissions } from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';
import { FormFrame, optional, Text } from '../kit/fields.tsx';
import { useForm } from '../kit/form.ts';
import { pageAt } from '../kit/page.ts';
import { Card } from '../kit/pieces.tsx';
import type { useSelection } from '../kit/selection.tsx';
import { plural } from '../kit/words.tsx';
import { AgentChoice, hasModel, NoModel, useAgents } from '../missions/mission-task.tsx';

type Start = StartMissionsMutation['startMissions']['starts'][number] & { title: string };

interface Properties {
  issues: readonly IssueRowFragment[];
  selection: ReturnType<typeof useSelection>;
  read(): void;
  close(): void;
}

export function StartMissions({ issues, selection, read, close }: Properties) {
  const [starts, show] = useState<Start[]>([]);
  if (starts.length > 0) return <Starts starts={starts} close={close} />;
  return (
    <StartForm
      issues={issues}
      cancel={close}
      done={(outcome) => {
        show(outcome);
        selection.clear();
        read();
      }}
    />
  );
}

interface FormProperties {
  issues: readonly IssueRowFragment[];
  cancel(): void;
  done(starts: Start[]): void;
}

function StartForm({ issues, cancel, done }: FormProperties) {
  const agents = useAgents()?.filter(({ harness }) => harness !== 'shell') ?? null;
  // The id of the request, a new one for each selection of issues.
  const chosen = useMemo(() => crypto.randomUUID(), [issues.map(({ id }) => id).join()]);
  const form = useForm({
    name: 'missions on issues',
    prefix: 'start-',
    initial: { agentId: '', budgetUsd: '', prompt: '' },
    async send({ agentId, budgetUsd, prompt }, key) {
      const input = {
        issues: issues.map(({ id, projectId }) => ({ projectId, issue: id })),
        ...(agentId && { agentId }),
        ...(budgetUsd && { budgetUsd: Number(budgetUsd) }),
        ...(optional(prompt) && { prompt }),
      };
      const { starts } = (await mutate(startMissions, { input }, `${key} ${chosen}`)).startMissions;
      done(starts.map((start, i) => ({ ...start, title: issues[i]!.title })));
    },
  });
  const { agentId } = form.values;
  return (
    <Card title={`${plural(issues.length, 'issue')} selected`}>
      <FormFrame
        form={form}
        action={`Start ${plural(issues.length, 'mission')}`}
        isOff={issues.length === 0 || !hasModel(agents, agentId)}
        close={cancel}
      >
        <AgentChoice form={form} agents={agents} />
        {!hasModel(agents, agentId) && <NoModel />}
        <Text form={form} name="budgetUsd" label="Budget per mission in US dollars" type="number" step="0.01" />
        <Text form={form} name="prompt" label="Task" rows={2} maxLength={20_000}>
          What to do with each issue. Agents also get the text of the issue. Leave this field empty to have agents solve
          the issues.
        </Text>
      </FormFrame>
    </Card>
  );
}

function Starts({ starts, close }: { starts: readonly Start[]; close(): void }) {
  const started = starts.filter(({ runId }) => runId !== null).length;
  return (
    <Card
      title={`${plural(started, 'mission')} started`}
      aside={
        <button type="button" class="quiet slim" onClick={close}>
          Close
        </button>
      }
    >
      <ul class="rows" role="status">
        {starts.map(({ issue, title, runId, reason }) => (
          <li key={issue} class="next-row">
            <div class="grow">
              {runId ? <a href={pageAt(`/runs/${runId}`)}>{title}</a> : title}
              {reason && <div class="error small">{reason}</div>}
            </div>
          </li>
        ))}
      </ul>
    </Card>
  );
}
