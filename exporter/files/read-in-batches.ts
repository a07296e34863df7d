/** Keeps a disk busy and stays far below the limit of open files of a process. */
const FILES_AT_ONCE = 32;

/** Reads a file or two per item, some of them at once; the results are in the order of the items. */
export async function readInBatches<T, R>(items: readonly T[], read: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let i = 0; i < items.length; i += FILES_AT_ONCE) {
    results.push(...(await Promise.all(items.slice(i, i + FILES_AT_ONCE).map(read))));
  }
  return results;
}
