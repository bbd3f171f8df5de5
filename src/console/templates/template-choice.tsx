// The field in which a person chooses a sandbox template. The forms of projects and of agents have this field.
import { templateNames } from '../generated/documents.ts';
import { Choice, type FieldProperties } from '../kit/fields.tsx';
import { may, pageAt } from '../kit/page.ts';
import { useReading } from '../kit/reading.ts';

export const standard = 'standard';

/** @param standardWords The label of the choice `standard`. Each form that contains this field gives the choice a label of its own. */
export function TemplateChoice<V>({
  standardWords,
  children: hint,
  ...field
}: FieldProperties<V> & { standardWords: string }) {
  const { data } = useReading(templateNames, {});
  const own = data?.sandboxTemplates.data.filter(({ isBuiltin }) => !isBuiltin) ?? [];
  const chosen = String(field.form.values[field.name]);
  return (
    <Choice
      {...field}
      options={[
        [standard, standardWords],
        ...own.map(({ id, name }) => [id, name] as const),
        ...(!data && chosen !== standard ? [[chosen, '…'] as const] : []),
      ]}
    >
      {hint} <a href={pageAt('/templates')}>View templates</a>
      {own.length === 0 && data && may('agents:write') && (
        <>
          {' '}
          or <a href={pageAt('/templates/new')}>create one</a>
        </>
      )}
      .
    </Choice>
  );
}
