// Filters and order of a list, kept in the URL of the page.
import { useEffect, useRef, useState } from 'preact/hooks';
import { agentNames, type ListOrder, projects } from '../generated/documents.ts';
import { useFilter, useReading } from './reading.ts';

interface ChoiceProperties {
  /** Name of the parameter in the URL. */
  name: string;
  label: string;
  any?: string;
  options: readonly (readonly [value: string, words: string])[];
}

export function FilterChoice({ name, label, any = 'Any', options }: ChoiceProperties) {
  const [value, choose] = useFilter(name);
  return (
    <label>
      {label}
      <select value={value ?? ''} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="">{any}</option>
        {value && !options.some(([one]) => one === value) && <option value={value}>{value}</option>}
        {options.map(([one, words]) => (
          <option key={one} value={one}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The values of an API enum as options. */
export const asOptions = (words: readonly string[]) => words.map((word) => [word, word] as const);

/** The value of a parameter in the URL; null unless it is one of `words`. */
export function useWord<W extends string>(name: string, words: readonly W[]): W | null {
  const [value] = useFilter(name);
  return words.find((word) => word === value) ?? null;
}

export function ProjectFilter() {
  const { data } = useReading(projects, { limit: 100 });
  const options = data?.projects.data.map(({ id, name }) => [id, name] as const) ?? [];
  return <FilterChoice name="projectId" label="Project" any="All" options={options} />;
}

export function AgentFilter() {
  const { data } = useReading(agentNames, {});
  const options = data?.agents.data.map(({ id, name }) => [id, name] as const) ?? [];
  return <FilterChoice name="agentId" label="Agent" options={options} />;
}

export const OrderFilter = () => (
  <FilterChoice name="order" label="Order" any="Newest first" options={[['oldest', 'Oldest first']]} />
);

const orders: readonly ListOrder[] = ['oldest'];
/** Order of the list; null means newest first. */
export const useOrder = (): ListOrder | null => useWord('order', orders);

/** Milliseconds from the last key press to the search. */
const pause = 250;

/** The search text, written to the URL when typing pauses. */
export function SearchFilter({ name, label }: { name: string; label: string }) {
  const [wanted, setWanted] = useFilter(name);
  const [typed, setTyped] = useState(wanted ?? '');
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <label>
      {label}
      <input
        type="search"
        value={typed}
        maxLength={200}
        onInput={({ currentTarget: { value } }) => {
          setTyped(value);
          clearTimeout(timer.current);
          timer.current = setTimeout(() => setWanted(value), pause);
        }}
      />
    </label>
  );
}
