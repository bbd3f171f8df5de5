// A card with a list whose entries are added, changed and deleted in place, such as budgets and secrets.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useReplacedButton } from './focus.ts';
import { ListView } from './list-view.tsx';
import { Action, Card, Skeleton, StatusMessage } from './pieces.tsx';
import type { List } from './reading.ts';

export interface EntryFormProperties {
  /** Shows a message, reads the list again and closes the form. */
  done(words: string): void;
  cancel(): void;
}

interface EditableListProperties<Row> {
  title: string;
  list: List<Row>;
  mayWrite: boolean;
  add: { label: string; class: string };
  /** The text of an empty list. */
  empty: string;
  addForm(properties: EntryFormProperties): ComponentChildren;
  children(row: Row, done: EntryFormProperties['done']): ComponentChildren;
}

export function EditableList<Row>(properties: EditableListProperties<Row>) {
  const { title, list, mayWrite, add, empty, addForm, children } = properties;
  const [said, say] = useState('');
  const { isOpen: isAdding, setOpen: setAdding, button } = useReplacedButton();
  const done = (words: string) => {
    say(words);
    setAdding(false);
    list.read();
  };
  return (
    <Card
      title={title}
      aside={
        mayWrite &&
        !isAdding && (
          <button ref={button} type="button" class={add.class} onClick={() => setAdding(true)}>
            {add.label}
          </button>
        )
      }
    >
      <StatusMessage words={said} />
      {isAdding && addForm({ done, cancel: () => setAdding(false) })}
      <ListView list={list} skeleton={<Skeleton rows={2} height={54} />} empty={!isAdding && <p>{empty}</p>}>
        {(rows) => <ul class="rows">{rows.map((row) => children(row, done))}</ul>}
      </ListView>
    </Card>
  );
}

interface EditableRowProperties {
  /** The name of the entry in the labels of its buttons, such as `monthly budget of the organization`. */
  name: string;
  mayWrite: boolean;
  /** Confirmation before the entry is deleted. */
  question: string;
  remove(key: string): Promise<void>;
  done: EntryFormProperties['done'];
  changeForm(properties: EntryFormProperties): ComponentChildren;
  children: ComponentChildren;
}

export function EditableRow({ name, mayWrite, question, remove, done, changeForm, children }: EditableRowProperties) {
  const { isOpen: isChanging, setOpen: setChanging, button } = useReplacedButton();
  return (
    <li>
      <div class="next-row wrap">
        {children}
        {mayWrite && !isChanging && (
          <div class="actions">
            <button
              ref={button}
              type="button"
              class="quiet slim"
              aria-label={`Change ${name}`}
              onClick={() => setChanging(true)}
            >
              Change
            </button>
            <Action label="Delete" describes={`Delete ${name}`} class="danger slim" question={question} act={remove} />
          </div>
        )}
      </div>
      {isChanging &&
        changeForm({
          done(words) {
            setChanging(false);
            done(words);
          },
          cancel: () => setChanging(false),
        })}
    </li>
  );
}
