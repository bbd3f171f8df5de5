// The role of a member, or of a group of the directory, with a button that saves a change.
import { useState } from 'preact/hooks';
import { Action } from '../kit/pieces.tsx';

interface Properties<Role extends string> {
  /** The present role; an empty text means none. */
  role: Role;
  roles: readonly Role[];
  label: string;
  name: string;
  save(role: Role, key: string): Promise<unknown>;
}

export function RoleSelect<Role extends string>({ role, roles, label, name, save }: Properties<Role>) {
  const [wanted, setWanted] = useState(role);
  return (
    <>
      <select
        class="slim-select"
        aria-label={label}
        value={wanted}
        onChange={({ currentTarget }) => setWanted(currentTarget.value as Role)}
      >
        {roles.map((one) => (
          <option key={one} value={one}>
            {one || 'no role'}
          </option>
        ))}
      </select>
      {wanted !== role && (
        <Action label="Save" describes={`Save the role of ${name}`} class="slim" act={(key) => save(wanted, key)} />
      )}
    </>
  );
}
