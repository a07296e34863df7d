import type { Random } from '../../core/stats/seeded-random.ts';

/** The id of a process in Dynamo's discovery: 64 bits, new after every start. */
export interface DynamoInstance {
  /** As on the process's own page. */
  readonly hex: string;
  /** As on the pages of others. */
  readonly decimal: string;
}

const HALF = 2 ** 32;

export function drawInstance(random: Random): DynamoInstance {
  const id = BigInt(Math.floor(random() * HALF)) * BigInt(HALF) + BigInt(Math.floor(random() * HALF));
  return { hex: id.toString(16), decimal: id.toString() };
}
