import { once } from 'node:events';

/** Writes to stdout and waits while it is full, so that a long answer is never in memory as a whole. */
export async function written(text: string): Promise<void> {
  if (text !== '' && !process.stdout.write(text)) await once(process.stdout, 'drain');
}
