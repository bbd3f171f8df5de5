// How long the audit log is kept.
import { auditRetention, setAuditRetention } from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';
import { FormFrame, Text } from '../kit/fields.tsx';
import { useForm } from '../kit/form.ts';
import { FormToggle } from '../kit/form-toggle.tsx';
import { Card } from '../kit/pieces.tsx';
import { useReading } from '../kit/reading.ts';

export function Retention() {
  const { data, read } = useReading(auditRetention, {});
  if (!data) return null;
  const { days } = data.auditRetention;
  return (
    <Card title="Retention">
      <p class="muted">Events are deleted after {days} days.</p>
      <FormToggle scope="organizations:write" label="Change the retention" read={read}>
        {(done) => <Change days={days} done={done} />}
      </FormToggle>
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
