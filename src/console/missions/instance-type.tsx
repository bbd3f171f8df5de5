// The choice of an instance type in forms of missions and sandbox templates.
import { instanceTypes } from '../generated/documents.ts';
import { Choice, type FieldProperties } from '../kit/fields.tsx';
import { useReading } from '../kit/reading.ts';

/** `none`: label of the option without an instance type. */
export function InstanceTypeChoice<V>({ none, ...field }: FieldProperties<V> & { none: string }) {
  const { data } = useReading(instanceTypes, {});
  const chosen = String(field.form.values[field.name]);
  const known = data?.agentCatalog.instanceTypes ?? [];
  return (
    <Choice
      {...field}
      options={[
        ['', none],
        ...known.map(
          ({ id, label, vcpu, memory, disk, usdPerMinute }) =>
            [
              id,
              `${label}: ${vcpu} CPU, ${memory.toLocaleString('en-US')} MiB memory, ${disk} GB disk${usdPerMinute > 0 ? `, $${usdPerMinute} per minute` : ''}`,
            ] as const,
        ),
        ...(!data && chosen ? [[chosen, chosen] as const] : []),
      ]}
    />
  );
}
