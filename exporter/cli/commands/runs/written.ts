import { once } from 'node:events';

/** Writes to stdout and waits for it to drain, so that long output is never held in memory. */
export async function written(text: string): Promise<void> {
  if (text !== '' && !process.stdout.write(text)) await once(process.stdout, 'drain');
}
