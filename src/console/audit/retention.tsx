// How long the audit log is kept.
import { useState } from 'preact/hooks';
import { auditRetention, setAuditRetention } from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';
import { FormFrame, Text } from '../kit/fields.tsx';
import { useForm } from '../kit/form.ts';
import { may } from '../kit/page.ts';
import { Card } from '../kit/pieces.tsx';
import { useReading } from '../kit/reading.ts';

export function Retention() {
  const { data, read } = useReading(auditRetention, {});
  const [isChanging, setChanging] = useState(false);
  if (!data) return null;
  const { days } = data.auditRetention;
  const done = () => {
    setChanging(false);
    read();
  };
  return (
    <Card title="Retention">
      <p class="muted">Events are deleted after {days} days.</p>
      {isChanging ? (
        <Change days={days} done={done} />
      ) : (
        may('organizations:write') && (
          <div class="actions">
            <button
              type="button"
              class="quiet slim"
              aria-label="Change the retention"
              onClick={() => setChanging(true)}
            >
              Change
            </button>
          </div>
        )
      )}
    </Card>
  );
}

function Change({ days, done }: { days: number; done(): void }) {
  const form = useForm({
    name: 'retention of the audit log',
    initial: { days: String(days) },
    async send(values, key) {
      await mutate(setAuditRetention, { days: Number(values.days) }, key);
      done();
    },
  });
  return (
    <FormFrame form={form} action="Save" close={done}>
      <Text form={form} name="days" label="Days" type="number" min={30} max={3650} required>
        Older events are deleted permanently within an hour.
      </Text>
    </FormFrame>
  );
}
