// People who have left the organization, and their erasure, which cannot be undone.
import { erasePerson, type FormerMembersQuery, formerMembers } from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';
import { org as orgId } from '../kit/page.ts';
import { Action, Card, Empty, ErrorNote } from '../kit/pieces.tsx';
import { useReading } from '../kit/reading.ts';
import { Time } from '../kit/words.tsx';

type Former = FormerMembersQuery['formerMembers']['people'][number];

interface Properties {
  mayErase: boolean;
  /** Reads the other lists of the page. */
  read(): void;
}

export function FormerMembers({ mayErase, read: readPage }: Properties) {
  const { data, problem, read } = useReading(formerMembers, { orgId });
  const people = data?.formerMembers.people ?? [];
  const readAll = () => {
    read();
    readPage();
  };
  return (
    <Card title="Former members">
      {problem && <ErrorNote problem={problem} retry={read} />}
      {data && people.length === 0 && <Empty>Nobody has left the organization.</Empty>}
      <ul class="rows">
        {people.map((person) => (
          <Row key={person.userId} person={person} mayErase={mayErase} read={readAll} />
        ))}
      </ul>
    </Card>
  );
}

function Row({ person, mayErase, read }: Properties & { person: Former }) {
  const { userId, name, email, removedAt, erasedAt } = person;
  return (
    <li class="next-row wrap">
      <div class="grow">
        <strong class="break">
          <bdi>{name ?? userId}</bdi>
        </strong>
        <div class="muted small break">
          {email && `${email} · `}removed <Time at={removedAt} />
          {erasedAt !== null && (
            <>
              {' '}
              · erased <Time at={erasedAt} />
            </>
          )}
        </div>
      </div>
      {mayErase && erasedAt === null && <Erase person={userId} name={name ?? userId} read={read} />}
    </li>
  );
}

interface EraseProperties {
  /** An id or an email address. */
  person: string;
  name: string;
  read(): void;
}

export const Erase = ({ person, name, read }: EraseProperties) => (
  <Action
    label="Erase"
    describes={`Erase ${name}`}
    class="danger slim"
    question={
      `In the audit log, network and email addresses, names and browsers of ${name} can never be read again. Recordings of missions ` +
      'that they started and invites to them are deleted, and their name in messages, reviews and comments is replaced. This cannot be undone.'
    }
    act={(key) => mutate(erasePerson, { orgId, person }, key).then(read)}
  />
);
