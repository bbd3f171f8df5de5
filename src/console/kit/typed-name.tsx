// A delete button that appears after the name has been typed.
import { useState } from 'preact/hooks';
import { Action } from './pieces.tsx';

interface Properties {
  name: string;
  what: string;
  remove(key: string): Promise<unknown>;
}

export function DeleteByName({ name, what, remove }: Properties) {
  const [typed, setTyped] = useState('');
  return (
    <div class="fields">
      <div class="field">
        <label for="typed-name">
          Type <strong class="break">{name}</strong> to confirm
        </label>
        <input
          id="typed-name"
          autocomplete="off"
          value={typed}
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
      </div>
      {typed.trim() === name.trim() && <Action label={`Delete ${what}`} class="danger sure" act={remove} />}
    </div>
  );
}
