// Whether the organization records its missions, and for how long.
import { recordingSettings, setRecordingSettings } from '../generated/documents.ts';
import { ask, mutate } from '../kit/client.ts';
import { Check, FormFrame, Text } from '../kit/fields.tsx';
import { useForm } from '../kit/form.ts';
import { may } from '../kit/page.ts';
import { Card, ErrorNote } from '../kit/pieces.tsx';
import { useReading } from '../kit/reading.ts';
import { plural } from '../kit/words.tsx';

interface Settings {
  isEnabled: boolean;
  days: number;
}

const valuesOf = ({ isEnabled, days }: Settings) => ({ isEnabled, days: String(days) });
const labels = { isEnabled: 'Record missions', days: 'Days' };

export function RecordingsCard() {
  const { data, problem, read } = useReading(recordingSettings, {});
  if (!data) return problem && <ErrorNote problem={problem} retry={read} />;
  const { recordingSettings: settings, me } = data;
  return (
    <Card title="Recordings">
      <p class="muted">
        The calls of agents to models and tools are kept, encrypted with a key of the organization. Members can download
        them from the page of a mission.
      </p>
      {me.role === 'owner' && may('organizations:write') ? (
        <Change settings={settings} read={read} />
      ) : (
        <p>
          {settings.isEnabled
            ? `Missions are recorded for ${plural(settings.days, 'day')}.`
            : 'Missions are not recorded. An owner can change this.'}
        </p>
      )}
    </Card>
  );
}

function Change({ settings, read }: { settings: Settings; read(): void }) {
  const form = useForm({
    name: 'recordings',
    initial: valuesOf(settings),
    current: async () => [valuesOf((await ask(recordingSettings, {})).recordingSettings), null],
    async send({ isEnabled, days }, key) {
      await mutate(setRecordingSettings, { isEnabled, days: Number(days) }, key);
      read();
    },
  });
  return (
    <FormFrame form={form} action="Save recordings" labels={labels}>
      <Check form={form} name="isEnabled" label={labels.isEnabled}>
        Switching this off deletes all recordings of the organization.
      </Check>
      <Text form={form} name="days" label={labels.days} type="number" min={1} max={365} required>
        Older recordings are deleted permanently within an hour.
      </Text>
    </FormFrame>
  );
}
