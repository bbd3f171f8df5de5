// A choice among the projects, for lists that can be narrowed to one.
import { projects } from './documents.ts';
import { useReading } from './reading.ts';

export function ProjectChoice({ value, choose }: { value: string | null; choose: (id: string | null) => void }) {
  const { data } = useReading(projects, { limit: 100 });
  const known = data?.projects.data ?? [];
  return (
    <label>
      Project
      <select value={value ?? ''} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="">All</option>
        {value && !known.some(({ id }) => id === value) && <option value={value}>{value}</option>}
        {known.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
