// The pull request loop of a project: the limits within which reviews, mentions, failed checks and conflicts continue missions.
import { project as oneProject, type ProjectQuery, setPullRequestLoop } from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';
import { FormFrame, Text } from '../kit/fields.tsx';
import { useForm } from '../kit/form.ts';
import { FormToggle } from '../kit/form-toggle.tsx';
import { Card, Pill } from '../kit/pieces.tsx';
import { useReading } from '../kit/reading.ts';
import { plural } from '../kit/words.tsx';

type Loop = ProjectQuery['project']['pullRequestLoop'];

export function PullRequestLoop({ projectId }: { projectId: string }) {
  const { data, read } = useReading(oneProject, { projectId });
  if (!data) return null;
  const loop = data.project.pullRequestLoop;
  return (
    <Card title="Pull requests" aside={<Pill status={loop.rounds > 0 ? 'on' : 'off'} />}>
      <p class="muted">{words(loop)}</p>
      <FormToggle scope="projects:write" label="Change the limits for pull requests" read={read}>
        {(done) => <Change projectId={projectId} loop={loop} done={done} />}
      </FormToggle>
    </Card>
  );
}

function words({ rounds, hours, costUsd }: Loop): string {
  if (rounds === 0) return 'Reviews and failed checks do not continue the mission of a pull request.';
  const time = hours % 24 === 0 ? plural(hours / 24, 'day') : plural(hours, 'hour');
  const cost = costUsd === null ? '' : ` and ${costUsd.toFixed(2)} USD`;
  return `Reviews, mentions, failed checks and conflicts continue the mission of a pull request, up to ${plural(rounds, 'time')} within ${time}${cost}. Later events wait for an approval on the page of their inbound hook.`;
}

function Change({ projectId, loop, done }: { projectId: string; loop: Loop; done(): void }) {
  const { rounds, hours, costUsd } = loop;
  const form = useForm({
    name: `pull requests of ${projectId}`,
    initial: { rounds: String(rounds), hours: String(hours), costUsd: costUsd === null ? '' : String(costUsd) },
    async send(values, key) {
      const cost = values.costUsd === '' ? null : Number(values.costUsd);
      const bounds = { rounds: Number(values.rounds), hours: Number(values.hours), costUsd: cost };
      await mutate(setPullRequestLoop, { projectId, ...bounds }, key);
      done();
    },
  });
  return (
    <FormFrame form={form} action="Save" close={done}>
      <Text form={form} name="rounds" label="Rounds" type="number" min={0} max={50} required>
        If 0, activity on a pull request never continues its mission.
      </Text>
      <Text form={form} name="hours" label="Hours" type="number" min={1} max={2160} required>
        Activity on a pull request continues its mission only within this many hours after the first mission of the pull
        request started.
      </Text>
      <Text form={form} name="costUsd" label="Cost in USD" type="number" step="0.01" min={0.01} max={10000}>
        For all missions of the pull request. Leave this field empty for no limit.
      </Text>
    </FormFrame>
  );
}
