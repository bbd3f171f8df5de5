// A reader of server-sent events (WHATWG HTML, section 9.2) without a library.

export interface Event {
  name: string;
  id?: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
  data: any;
}

/** Yields the events of a response one by one. Skips pings, but yields an event that has only an id. Stopping the iteration disconnects. */
export async function* eventsOf({ body }: { body: unknown }): AsyncGenerator<Event> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop()!;
    for (const block of blocks) {
      const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(block)?.[1];
      const [name, id, data] = [field('event'), field('id'), field('data')];
      if (name || id) yield { name: name ?? 'message', id, data: data ? JSON.parse(data) : null };
    }
  }
}
