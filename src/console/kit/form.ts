// Keeps the values of a form until the service has accepted them: they survive a lost connection, an ended session and a reload, a retry
// sends the same request, and concurrent changes by another person are shown.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { isRecordChanged, type ProblemBody, problemOf } from './client.ts';
import { org, person } from './page.ts';

interface Kept<V> {
  values: V;
  /** The record as it was when the form was opened. */
  base: V;
}

interface FormSettings<V> {
  /** The name of the form and of the record that the form edits. The browser tab keeps unsent values under this name. */
  name: string;
  initial: V;
  /** Sends the values; requests with the same key take effect once. `seen`: `updatedAt` of the record that was edited. */
  send(values: V, key: string, seen: number | null): Promise<unknown>;
  /** Tells the form apart from other forms on the page with fields of the same names. */
  prefix?: string;
  /** Fields that are never stored outside this page. */
  secrets?: readonly (keyof V)[];
  /**
   * Reads the record again, and returns its values and its `updatedAt`. If the record has no `updatedAt`, null is returned in place of it.
   * The function `current` is absent when nobody else can change the record, for example because the form creates the record.
   */
  current?(): Promise<readonly [values: V, updatedAt: number | null]>;
}

export interface Form<V> {
  values: V;
  prefix: string;
  set(change: Partial<V>): void;
  /** Error of a field, or of a part of it such as `hosts.0`, in the API's words. */
  errorOf(name: string): string | null;
  /** Problem that belongs to no field. */
  problem: ProblemBody | null;
  isBusy: boolean;
  /** Whether unsent values of an earlier visit were found. */
  isRestored: boolean;
  /** Changes that another person has saved since the form was opened, by field. */
  conflict: { name: string; theirs: unknown; mine: unknown }[] | null;
  submit(event?: Event): Promise<void>;
  discard(): void;
  keepMine(): void;
  takeTheirs(): void;
  /** Reference for the `form` element, whose first invalid field gets the focus after an error. */
  element: { current: HTMLFormElement | null };
}

/** The current and the initial values of a form; unsent values are kept in this tab. */
function useValues<V extends object>({ name, initial, secrets = [] }: FormSettings<V>) {
  const place = `form ${person} ${org} ${name}`;
  const [found] = useState(() => readKept<V>(place));
  const [values, setValues] = useState<V>(found?.values ?? initial);
  const [base, setBase] = useState<V>(found?.base ?? initial);
  const [isRestored, setRestored] = useState(found !== null);
  const key = useRef(crypto.randomUUID());
  const latest = useRef(values);
  latest.current = values;
  const withoutSecrets = (all: V): V => ({
    ...all,
    ...Object.fromEntries(secrets.map((secret) => [secret, initial[secret]])),
  });

  function start(to: V): void {
    sessionStorage.removeItem(place);
    key.current = crypto.randomUUID();
    setValues(to);
    setBase(to);
    setRestored(false);
  }
  function set(change: Partial<V>): void {
    const next = { ...latest.current, ...change };
    latest.current = next;
    key.current = crypto.randomUUID();
    setValues(next);
    const kept = withoutSecrets(next);
    if (isSame(kept, base)) sessionStorage.removeItem(place);
    else sessionStorage.setItem(place, JSON.stringify({ values: kept, base } satisfies Kept<V>));
  }
  return { values, base, setBase, isRestored, key, withoutSecrets, start, set };
}

export function useForm<V extends object>(settings: FormSettings<V>): Form<V> {
  const { initial, send, current, prefix = '' } = settings;
  const { values, base, setBase, isRestored, key, withoutSecrets, set, ...kept } = useValues(settings);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ProblemBody | null>(null);
  const [theirs, setTheirs] = useState<V | null>(null);
  const element = useRef<HTMLFormElement>(null);
  const errors = fieldErrors(problem, Object.keys(values));
  useLayoutEffect(() => {
    if (problem) element.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [problem]);

  function start(to: V): void {
    kept.start(to);
    setProblem(null);
    setTheirs(null);
  }
  async function run(known: V): Promise<void> {
    if (isBusy) return;
    setBusy(true);
    setProblem(null);
    try {
      const changed = await save(known, current, (seen) => send(values, key.current, seen));
      if (changed) return setTheirs(changed);
      // Without a reset the emptied fields would be marked as invalid (CSS, :user-invalid).
      if (!current) element.current?.reset();
      // After the form has created a record, it is empty. After it has changed a record, it shows the saved values.
      start(current ? withoutSecrets(values) : initial);
    } catch (error) {
      setProblem(problemOf(error));
    } finally {
      setBusy(false);
    }
  }
  return {
    values,
    prefix,
    set,
    errorOf: (field) => errors.fields[field] ?? null,
    problem: errors.rest,
    isBusy,
    isRestored,
    conflict: theirs && differences(theirs, values, base),
    submit: async (event) => {
      event?.preventDefault();
      await run(base);
    },
    discard: () => start(initial),
    keepMine: () => {
      const known = theirs!;
      setBase(known);
      setTheirs(null);
      void run(known);
    },
    takeTheirs: () => start(theirs!),
    element,
  };
}

/** Maximum number of attempts for a record that keeps changing. */
const maxTries = 3;

/**
 * Sends the values if the record is unchanged since it was read. Returns the record's values if another person has changed it, else null.
 */
async function save<V>(
  known: V,
  current: FormSettings<V>['current'],
  send: (seen: number | null) => Promise<unknown>,
): Promise<V | null> {
  for (let tries = 1; ; tries++) {
    const [now, seen] = (await current?.()) ?? [];
    if (now && !isSame(now, known)) return now;
    try {
      await send(seen ?? null);
      return null;
    } catch (error) {
      // The record was changed between the two requests: read it again.
      if (!isRecordChanged(error) || tries === maxTries) throw error;
    }
  }
}

function readKept<V>(place: string): Kept<V> | null {
  try {
    return JSON.parse(sessionStorage.getItem(place) ?? 'null');
  } catch {
    return null;
  }
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

const differences = <V extends object>(theirs: V, mine: V, base: V) =>
  (Object.keys(theirs) as (keyof V & string)[])
    .filter((name) => !isSame(theirs[name], base[name]))
    .map((name) => ({ name, theirs: theirs[name], mine: mine[name] }));

/** Errors of the form's own fields by name, and the remaining problem, which is about fields that the form does not have. */
function fieldErrors(problem: ProblemBody | null, names: string[]) {
  const fields: Record<string, string> = {};
  const others: string[] = [];
  for (const { path, message } of problem?.fields ?? []) {
    // A field of the form may be a member of a record, such as a policy. The path of its error then begins with the name of that record.
    const inner = path.slice(path.indexOf('.') + 1);
    const name = ownName(names, path) ?? ownName(names, inner);
    if (name) for (const one of new Set([name, path])) fields[one] ??= capital(sentence(message));
    else others.push(sentence(path ? `${path}: ${message}` : message));
  }
  if (!problem?.fields) return { fields, rest: problem };
  return { fields, rest: others.length > 0 ? { ...problem, description: others.join(' ') } : null };
}

const ownName = (names: string[], path: string): string | undefined =>
  names.find((one) => path === one || path.startsWith(`${one}.`));

const sentence = (words: string): string => words.replace(/\.?$/, '.');
const capital = (words: string): string => words[0]!.toUpperCase() + words.slice(1);
