// The button that deletes the record of a page, and then opens the list of such records.
import { useLocation } from 'preact-iso';
import { pageAt } from './page.ts';
import { Action } from './pieces.tsx';

interface Properties {
  /** Consequence of the deletion. */
  question: string;
  /** Path of the list. */
  list: string;
  remove(key: string): Promise<unknown>;
}

export function DeleteRecord({ question, list, remove }: Properties) {
  const { route } = useLocation();
  const act = (key: string) => remove(key).then(() => route(pageAt(list)));
  return <Action label="Delete" class="danger slim" question={question} act={act} />;
}
