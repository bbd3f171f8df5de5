// Form fields with several controls: checkboxes and radio buttons.

import type { ComponentChildren } from 'preact';
import { FieldError } from './field-error.tsx';
import type { ChoiceProperties, FieldProperties } from './fields.tsx';

/** Checkboxes: the value lists the checked options, in the order of the options. */
export function Several<V>({ form, name, label, children: hint, options }: ChoiceProperties<V>) {
  const chosen = form.values[name] as readonly string[];
  return (
    <Group form={form} name={name} label={label} hint={hint}>
      {options.map(([one, text]) => (
        <label key={one} class="choice">
          <input
            type="checkbox"
            checked={chosen.includes(one)}
            onChange={({ currentTarget: { checked } }) => {
              const next = options.map(([option]) => option).filter((o) => (o === one ? checked : chosen.includes(o)));
              form.set({ [name]: next } as Partial<V>);
            }}
          />
          {text}
        </label>
      ))}
    </Group>
  );
}

/** Radio buttons: the value is the chosen option. */
export function OneOf<V>(properties: ChoiceProperties<V, ComponentChildren> & { required?: boolean }) {
  const { form, name, label, children: hint, options, required } = properties;
  return (
    <Group form={form} name={name} label={label} hint={hint}>
      {options.map(([one, text]) => (
        <label key={one} class="choice">
          <input
            type="radio"
            name={form.prefix + name}
            required={required}
            checked={form.values[name] === one}
            onChange={() => form.set({ [name]: one } as Partial<V>)}
          />
          <span>{text}</span>
        </label>
      ))}
    </Group>
  );
}

/** A group of controls with one label, hint and error. */
export function Group<V>({ form, name, label, hint, children }: FieldProperties<V> & { hint?: ComponentChildren }) {
  const error = form.errorOf(name);
  const id = form.prefix + name;
  return (
    <fieldset aria-describedby={error ? `error-${id}` : undefined}>
      <legend>{label}</legend>
      {hint && <p class="hint">{hint}</p>}
      <div class="choices">{children}</div>
      <FieldError id={`error-${id}`} text={error} />
    </fieldset>
  );
}
