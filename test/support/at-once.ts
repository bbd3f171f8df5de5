// Processes many items, a limited number at the same time.

export async function atOnce<T>(
  limit: number,
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const left = items.values();
  await Promise.all(
    Array.from({ length: limit }, async () => {
      for (const item of left) await work(item);
    }),
  );
}
