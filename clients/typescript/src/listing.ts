// A list of the API: awaiting it returns its first page, iterating it returns every record of every page.

export class Listing<Page, Item> implements PromiseLike<Page>, AsyncIterable<Item> {
  readonly #read: (cursor: string | null) => Promise<Page>;
  readonly #itemsOf: (page: Page) => Item[];
  #first: Promise<Page> | undefined;

  constructor(read: (cursor: string | null) => Promise<Page>, itemsOf: (page: Page) => Item[]) {
    this.#read = read;
    this.#itemsOf = itemsOf;
  }

  // biome-ignore lint/suspicious/noThenProperty: awaiting a list returns its first page
  then<A = Page, B = never>(
    fulfilled?: ((page: Page) => A | PromiseLike<A>) | null,
    rejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#firstPage().then(fulfilled, rejected);
  }

  #firstPage(): Promise<Page> {
    this.#first ??= this.#read(null);
    return this.#first;
  }

  /** The pages one by one; each is requested when it is needed. */
  async *pages(): AsyncGenerator<Page> {
    for (let page = await this.#firstPage(); ; ) {
      yield page;
      const { nextCursor } = page as { nextCursor?: string | null };
      if (!nextCursor) return;
      page = await this.#read(nextCursor);
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item> {
    for await (const page of this.pages()) yield* this.#itemsOf(page);
  }

  /** The first `count` records. */
  async take(count: number): Promise<Item[]> {
    const items: Item[] = [];
    if (count < 1) return items;
    for await (const item of this) if (items.push(item) >= count) break;
    return items;
  }
}
