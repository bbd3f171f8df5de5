// How long the organization keeps details, logs, artifacts and sandboxes of ended missions.
import { retentionSettings, setRetentionSettings } from '../generated/documents.ts';
import { ask, mutate } from '../kit/client.ts';
import { FormFrame, Text } from '../kit/fields.tsx';
import { useForm } from '../kit/form.ts';
import { may } from '../kit/page.ts';
import { Card, ErrorNote } from '../kit/pieces.tsx';
import { useReading } from '../kit/reading.ts';
import { plural } from '../kit/words.tsx';

const labels = {
  runDays: 'Days for details',
  logDays: 'Days for logs',
  artifactDays: 'Days for artifacts',
  sandboxDays: 'Days for sandboxes',
};
type Settings = Record<keyof typeof labels, number | null>;

const valuesOf = ({ runDays, logDays, artifactDays, sandboxDays }: Settings) => ({
  runDays: String(runDays ?? ''),
  logDays: String(logDays ?? ''),
  artifactDays: String(artifactDays ?? ''),
  sandboxDays: String(sandboxDays ?? ''),
});
const daysIn = (text: string): number | null => (text.trim() === '' ? null : Number(text));

export function RetentionCard() {
  const { data, problem, read } = useReading(retentionSettings, {});
  if (!data) return problem && <ErrorNote problem={problem} retry={read} />;
  const { retentionSettings: settings, me } = data;
  return (
    <Card title="Retention">
      <p class="muted">
        Missions with their results, costs and attestations are kept. Their details can be deleted some days after a
        mission ends; logs with transcripts, artifacts and sandboxes can be deleted even earlier.
      </p>
      {me.role === 'owner' && may('organizations:write') ? (
        <Change settings={settings} read={read} />
      ) : (
        <Chosen settings={settings} />
      )}
    </Card>
  );
}

const wordsOf = (days: number | null, otherwise = 'kept'): string =>
  days === null ? otherwise : `deleted after ${plural(days, 'day')}`;

const Chosen = ({ settings: { runDays, logDays, artifactDays, sandboxDays } }: { settings: Settings }) => (
  <p>
    Details are {wordsOf(runDays)}, logs {wordsOf(logDays)}, artifacts {wordsOf(artifactDays, 'deleted after 90 days')},
    sandboxes {wordsOf(sandboxDays)}. An owner can change this.
  </p>
);

function Change({ settings, read }: { settings: Settings; read(): void }) {
  const form = useForm({
    name: 'retention of missions',
    initial: valuesOf(settings),
    current: async () => [valuesOf((await ask(retentionSettings, {})).retentionSettings), null],
    async send({ runDays, logDays, artifactDays, sandboxDays }, key) {
      const days = {
        runDays: daysIn(runDays),
        logDays: daysIn(logDays),
        artifactDays: daysIn(artifactDays),
        sandboxDays: daysIn(sandboxDays),
      };
      await mutate(setRetentionSettings, days, key);
      read();
    },
  });
  return (
    <FormFrame form={form} action="Save retention" labels={labels}>
      <Text form={form} name="runDays" label={labels.runDays} type="number" min={14} max={3650}>
        Steps, messages, logs, sandboxes, artifacts and recordings are deleted permanently this many days after their
        mission ends. A mission that is still needed, for example by an open pull request, keeps its details as long as
        it is needed. If this field is empty, only the settings below apply.
      </Text>
      <Text form={form} name="logDays" label={labels.logDays} type="number" min={14} max={3650}>
        Older logs and transcripts are deleted permanently within an hour. If this field is empty, they are kept until
        their sandbox is deleted.
      </Text>
      <Text form={form} name="artifactDays" label={labels.artifactDays} type="number" min={14} max={90}>
        Artifacts of open pull requests are kept. If this field is empty, all other artifacts are deleted after 90 days.
      </Text>
      <Text form={form} name="sandboxDays" label={labels.sandboxDays} type="number" min={14} max={3650}>
        Logs of a sandbox are deleted with it. If this field is empty, sandboxes are kept.
      </Text>
    </FormFrame>
  );
}
