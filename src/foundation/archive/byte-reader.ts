// Reads exact numbers of bytes from a stream of chunks.

export class ByteReader {
  #position = 0;
  #held: Buffer = Buffer.alloc(0);
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #truncated: () => Error;

  /** `truncated` creates the error for a stream that ends too early. */
  constructor(source: AsyncIterable<Uint8Array>, truncated: () => Error) {
    this.#chunks = source[Symbol.asyncIterator]();
    this.#truncated = truncated;
  }

  /** Number of bytes that have been returned. */
  get position(): number {
    return this.#position;
  }

  async isAtEnd(): Promise<boolean> {
    return this.#held.length === 0 && !(await this.#more());
  }

  /** Exactly `size` bytes, which have to fit in memory. */
  async read(size: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for await (const piece of this.stream(size)) pieces.push(piece);
    return Buffer.concat(pieces, size);
  }

  /** The next `size` bytes, in chunks as they arrive. */
  async *stream(size: number): AsyncGenerator<Buffer> {
    for (let left = size; left > 0; ) {
      if (this.#held.length === 0 && !(await this.#more())) throw this.#truncated();
      const piece = this.#held.subarray(0, left);
      this.#held = this.#held.subarray(piece.length);
      this.#position += piece.length;
      left -= piece.length;
      yield piece;
    }
  }

  /** Waits for the next chunk that is not empty; false at the end. */
  async #more(): Promise<boolean> {
    for (;;) {
      const { done, value } = await this.#chunks.next();
      if (done) return false;
      if (value.length === 0) continue;
      this.#held = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
      return true;
    }
  }
}
