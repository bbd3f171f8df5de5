// The fields of the form of a sandbox template that describe its services. A service is a container that runs next to each mission.

import { Entries } from '../kit/entries.tsx';
import { FieldError } from '../kit/field-error.tsx';
import type { Form } from '../kit/form.ts';
import { blankService, isServiceSent, type ServiceRow, type TemplateValues } from './template-values.ts';

const inputs: [part: keyof ServiceRow, label: string, placeholder: string, hint?: string][] = [
  ['name', 'Name', 'db'],
  ['image', 'Image', 'postgres:17'],
  [
    'variables',
    'Variables',
    'POSTGRES_PASSWORD=test',
    'One NAME=value per line. ${secret:NAME} stands for a secret for the setup.',
  ],
  ['command', 'Command', '', 'One argument per line, to replace the command of the image. Optional.'],
  [
    'healthCheck',
    'Health check',
    'pg_isready',
    'A shell command in its container. Leave this field empty if the service is ready after 2 seconds.',
  ],
];
/** Maximum number of variables, and of arguments. */
const maxLines = 50;
const multiline: (keyof ServiceRow)[] = ['variables', 'command'];

/** Errors of one input, including errors of its lines. */
function errorOf(form: Form<TemplateValues>, path: string): string | null {
  const of = (line: number) => ['', '.name', '.value'].map((part) => form.errorOf(`${path}.${line}${part}`));
  const found = [form.errorOf(path), ...Array.from({ length: maxLines }, (_, line) => of(line)).flat()];
  return found.find((error) => error) ?? null;
}

export function ServicesField({ form }: { form: Form<TemplateValues> }) {
  const { services } = form.values;
  const whole = form.errorOf('services');
  const isOfRow = services.some((_, row) => inputs.some(([part]) => errorOf(form, `services.${row}.${part}`)));
  return (
    <fieldset>
      <legend>Services</legend>
      <p class="hint">
        At most 5 containers that run next to each mission, for example a database. The mission reaches them at{' '}
        <code>localhost</code>. They need a runtime with <code>ISOLATION=container</code>; on other runtimes the mission
        fails.
      </p>
      <Entries
        entries={services}
        set={(changed) => form.set({ services: changed })}
        blank={blankService}
        isBlank={(one) => !isServiceSent(one)}
        noun="service"
      >
        {(service, change, index, row) => (
          <div class="grow">
            {inputs.map(([part, label, placeholder, hint]) => {
              const error = index === null ? null : errorOf(form, `services.${index}.${part}`);
              const id = `services-${row}-${part}`;
              const attributes = {
                id,
                class: 'code-input',
                'aria-invalid': error ? ('true' as const) : undefined,
                'aria-describedby': error ? `error-${id}` : undefined,
                autocomplete: 'off',
                spellcheck: false,
                placeholder,
                value: service[part],
              };
              const set = (value: string) => change({ ...service, [part]: value });
              return (
                <div class="field" key={part}>
                  <label for={id}>
                    {label} of service number {row + 1}
                  </label>
                  {hint && <p class="hint">{hint}</p>}
                  {multiline.includes(part) ? (
                    <textarea {...attributes} rows={2} onInput={({ currentTarget: { value } }) => set(value)} />
                  ) : (
                    <input {...attributes} onInput={({ currentTarget: { value } }) => set(value)} />
                  )}
                  <FieldError id={`error-${id}`} text={error} />
                </div>
              );
            })}
          </div>
        )}
      </Entries>
      {whole && !isOfRow && <p class="field-error">{whole}</p>}
    </fieldset>
  );
}
