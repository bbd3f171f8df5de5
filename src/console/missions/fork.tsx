// Forks of a recorded mission, and the calls from which a new fork can continue.
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { forkMission, type RecordedModelCallsQuery, recordedModelCalls, runForks } from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';
import { FormFrame, Text } from '../kit/fields.tsx';
import { useForm } from '../kit/form.ts';
import { may, pageAt } from '../kit/page.ts';
import { Card, Loading } from '../kit/pieces.tsx';
import { useReading } from '../kit/reading.ts';
import { plural, Time } from '../kit/words.tsx';

type Call = RecordedModelCallsQuery['recordedModelCalls']['data'][number];

/** The missions that were forked from the run. */
export function Forks({ runId }: { runId: string }) {
  const { data } = useReading(runForks, { runId });
  const forks = data?.run.forks ?? [];
  if (forks.length === 0) return null;
  return (
    <Card title="Forks">
      <ul class="rows">
        {forks.map(({ runId: id, calls, model, agentVersion, run }) => (
          <li key={id}>
            <div>
              <a href={pageAt(`/runs/${id}`)}>{run?.missionTitle ?? id}</a>
            </div>
            <div class="muted small">
              Replays {plural(calls, 'recorded call')}, then continues with the model {model}
              {agentVersion !== null && ` and version ${agentVersion} of the agent`}
              {run && ` · ${run.status}`}
            </div>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** The recorded model calls, each with a button that continues the mission from that call. */
export function ForkableCalls({ runId }: { runId: string }) {
  const [isShown, setShown] = useState(false);
  if (!may('missions:run')) return null;
  if (isShown) return <Calls runId={runId} after={0} />;
  return (
    <button type="button" class="quiet slim" onClick={() => setShown(true)}>
      Continue from a call
    </button>
  );
}

function Calls({ runId, after }: { runId: string; after: number }) {
  const { data, problem, read } = useReading(recordedModelCalls, { runId, after });
  const [chosen, choose] = useState<Call | null>(null);
  const [isMoreShown, showMore] = useState(false);
  if (!data) return <Loading problem={problem} retry={read} rows={3} height={40} />;
  const { data: calls, hasMore } = data.recordedModelCalls;
  return (
    <>
      <ol class="rows" aria-label="Model calls">
        {calls.map((call) => (
          <li key={`${call.stepId} ${call.number}`}>
            <div class="row-top">
              <span>
                Call {call.number} <span class="muted">by the agent with the role {call.role}</span>
                <span class="muted small">
                  {' · '}
                  <Time at={call.at} />
                  {call.model && ` · model ${call.model}`}
                  {call.status !== 200 && ` · HTTP status ${call.status}`}
                </span>
              </span>
              {chosen !== call && (
                <button
                  type="button"
                  class="quiet slim"
                  aria-label={`Continue from call ${call.number} of the ${call.role}`}
                  onClick={() => choose(call)}
                >
                  Continue from this call
                </button>
              )}
            </div>
            {chosen === call && <ForkForm runId={runId} call={call} close={() => choose(null)} />}
          </li>
        ))}
      </ol>
      {hasMore && !isMoreShown && (
        <button type="button" class="quiet slim" onClick={() => showMore(true)}>
          Show more calls
        </button>
      )}
      {isMoreShown && <Calls runId={runId} after={after + calls.length} />}
    </>
  );
}

function ForkForm({ runId, call, close }: { runId: string; call: Call; close: () => void }) {
  const { route } = useLocation();
  const form = useForm({
    name: `fork ${runId} ${call.stepId} ${call.number}`,
    initial: { prompt: '', model: '', agentVersion: '' },
    send: async ({ prompt, model, agentVersion }, key) => {
      const { stepId, number } = call;
      const chosen = {
        prompt: prompt.trim() || null,
        model: model.trim() || null,
        agentVersion: agentVersion === '' ? null : Number(agentVersion),
      };
      const { forkMission: run } = await mutate(forkMission, { runId, stepId, call: number, ...chosen }, key);
      route(pageAt(`/runs/${run.id}`));
    },
  });
  return (
    <FormFrame form={form} action="Start fork" close={close}>
      <p class="muted small">
        A new mission replays the calls before this one at no cost, and makes this call and later ones again.
      </p>
      <Text form={form} name="prompt" label="Message to the agent" rows={3} maxLength={20_000}>
        Optional. Without a message, the agent is asked to continue.
      </Text>
      <Text form={form} name="model" label="Model">
        Optional. A model of the same harness; the recorded one is {call.model ?? 'not known'}.
      </Text>
      <Text form={form} name="agentVersion" label="Version of the agent" type="number" min={1}>
        Optional. The instructions, model and skills of this version apply to this call and later ones.
      </Text>
    </FormFrame>
  );
}
