// Form fields, each with its label, hint and error.

import type { ComponentChildren } from 'preact';
import { FieldError } from './field-error.tsx';
import { useFocusWhileOpen } from './focus.ts';
import type { Form } from './form.ts';
import { ErrorNote } from './pieces.tsx';

interface FrameProperties<V> {
  form: Form<V>;
  /** Label of the submit button. */
  action: string;
  /** Address of the cancel link. */
  cancel?: string;
  /** Closes a form that is part of a page. If present, a cancel button that calls this function replaces the cancel link. */
  close?(): void;
  children: ComponentChildren;
  /** Labels of the fields. They name the fields that another person has changed meanwhile. */
  labels?: Record<string, string>;
  /** Whether the action cannot be undone. */
  isDangerous?: boolean;
  /** Whether the form cannot be submitted now; the fields say why. */
  isOff?: boolean;
}

export function FormFrame<V>({
  form,
  action,
  cancel,
  close,
  children,
  labels = {},
  isDangerous,
  isOff,
}: FrameProperties<V>) {
  useFocusWhileOpen(form.element, close !== undefined);
  return (
    <form ref={form.element} class="fields" onSubmit={form.submit} aria-label={action}>
      {form.isRestored && (
        <div class="note row" role="status">
          <div>Your unsent changes have been restored.</div>
          <button type="button" class="quiet slim" onClick={form.discard}>
            Discard
          </button>
        </div>
      )}
      {children}
      {form.problem && <ErrorNote problem={form.problem} />}
      {form.conflict && (
        <div class="note error" role="alert">
          <strong>Somebody has changed this since you opened it</strong>
          <ul>
            {form.conflict.map(({ name, theirs, mine }) => (
              <li key={name}>
                {labels[name] ?? name}: now “{words(theirs)}”, yours “{words(mine)}”
              </li>
            ))}
          </ul>
          <div class="actions">
            <button type="button" class="slim" onClick={form.keepMine}>
              Save my changes
            </button>
            <button type="button" class="quiet slim" onClick={form.takeTheirs}>
              Use their changes
            </button>
          </div>
        </div>
      )}
      <div class="actions">
        <button type="submit" class={isDangerous ? 'danger sure' : undefined} disabled={form.isBusy || isOff}>
          {form.isBusy ? 'Sending …' : action}
        </button>
        {cancel && (
          <a class="button quiet" href={cancel}>
            Cancel
          </a>
        )}
        {close && (
          <button
            type="button"
            class="quiet"
            onClick={() => {
              form.discard();
              close();
            }}
          >
            Cancel
          </button>
        )}
      </div>
    </form>
  );
}

function words(value: unknown): string {
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.join(', ');
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

export interface FieldProperties<V> {
  form: Form<V>;
  name: keyof V & string;
  label: string;
  /** The hint below the label. */
  children?: ComponentChildren;
}

function Field<V>({ control, ...field }: FieldProperties<V> & { control: ComponentChildren }) {
  const { form, name, label, children: hint } = field;
  const error = form.errorOf(name);
  const id = form.prefix + name;
  return (
    <div class="field">
      <label for={`field-${id}`}>{label}</label>
      {hint && (
        <p class="hint" id={`hint-${id}`}>
          {hint}
        </p>
      )}
      {control}
      <FieldError id={`error-${id}`} text={error} />
    </div>
  );
}

const described = <V,>({ form, name, children: hint }: FieldProperties<V>) => {
  const error = form.errorOf(name);
  const id = form.prefix + name;
  const by = [hint && `hint-${id}`, error && `error-${id}`].filter(Boolean).join(' ');
  return {
    id: `field-${id}`,
    'aria-invalid': error ? ('true' as const) : undefined,
    'aria-describedby': by || undefined,
  };
};

type TextProperties<V> = FieldProperties<V> & {
  required?: boolean;
  maxLength?: number;
  /** Number of rows; more than 1 for a multi-line text. */
  rows?: number;
  /** Whether the font is monospaced. */
  isCode?: boolean;
  type?: 'text' | 'email' | 'number' | 'time' | 'password';
  step?: string;
  min?: number;
  max?: number;
};

export function Text<V>(properties: TextProperties<V>) {
  const { form, name, required, maxLength, rows = 1, isCode, type = 'text', step, min, max } = properties;
  const attributes = {
    ...described(properties),
    value: String(form.values[name] ?? ''),
    required,
    maxLength,
    onInput: ({ currentTarget }: { currentTarget: { value: string } }) =>
      form.set({ [name]: currentTarget.value } as Partial<V>),
  };
  const control =
    rows > 1 ? (
      <textarea rows={rows} class={isCode ? 'code' : undefined} spellcheck={!isCode} {...attributes} />
    ) : (
      <input
        type={type as 'text'}
        step={step}
        min={min}
        max={max}
        autocomplete={type === 'password' ? 'new-password' : 'off'}
        {...attributes}
      />
    );
  return <Field {...properties} control={control} />;
}

export type ChoiceProperties<V, Words = string> = FieldProperties<V> & {
  options: readonly (readonly [value: string, words: Words])[];
};

export function Choice<V>(properties: ChoiceProperties<V>) {
  const { form, name, options } = properties;
  const value = String(form.values[name] ?? '');
  const isKnown = options.some(([one]) => one === value);
  const control = (
    <select
      {...described(properties)}
      value={value}
      onChange={({ currentTarget }) => form.set({ [name]: currentTarget.value } as Partial<V>)}
    >
      {!isKnown && <option value={value}>{value || '–'}</option>}
      {options.map(([one, text]) => (
        <option key={one} value={one}>
          {text}
        </option>
      ))}
    </select>
  );
  return <Field {...properties} control={control} />;
}

export function Check<V>({ form, name, label, children: hint }: FieldProperties<V>) {
  return (
    <div class="field">
      <label class="check">
        <input
          type="checkbox"
          checked={Boolean(form.values[name])}
          aria-describedby={hint ? `hint-${form.prefix}${name}` : undefined}
          onChange={({ currentTarget }) => form.set({ [name]: currentTarget.checked } as Partial<V>)}
        />
        {label}
      </label>
      {hint && (
        <p class="hint" id={`hint-${form.prefix}${name}`}>
          {hint}
        </p>
      )}
    </div>
  );
}

/** The trimmed text; null if it is empty. */
export const optional = (text: string): string | null => (text.trim() === '' ? null : text.trim());
