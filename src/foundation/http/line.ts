// A queue whose members join at the end and leave from any position, each in constant time. In a `Set`, the time to find the first member
// grows with the number of members that have left.
export interface Line<T> extends Iterable<T> {
  first(): T | undefined;
  /** Adds a member at the end. The member must not be in the queue already. */
  join(member: T): void;
  leave(member: T): void;
  size(): number;
}

interface Place<T> {
  member?: T;
  before: Place<T>;
  after: Place<T>;
}

export function createLine<T>(): Line<T> {
  const places = new Map<T, Place<T>>();
  const ends = {} as Place<T>;
  ends.before = ends.after = ends;
  return {
    first: () => ends.after.member,
    join(member) {
      const place = { member, before: ends.before, after: ends };
      place.before.after = ends.before = place;
      places.set(member, place);
    },
    leave(member) {
      const { before, after } = places.get(member)!;
      before.after = after;
      after.before = before;
      places.delete(member);
    },
    size: () => places.size,
    /** During an iteration, the current member may leave and join again. */
    *[Symbol.iterator]() {
      for (let place = ends.after, next = place.after; place !== ends; place = next, next = place.after)
        yield place.member!;
    },
  };
}
