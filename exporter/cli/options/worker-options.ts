import type { ShardRequest } from '../../run/run-request.ts';
import { CliError } from '../failure.ts';
import { integer, seconds, text, type Option, type OptionValues } from './options.ts';

const MAX_WORKERS = 256;
const MAX_SHARDS = 10_000;

const SHARD: Option<{ readonly part: number; readonly parts: number } | null> = {
  help: 'run one part of a benchmark that several machines run together, such as 0/4 for the first of four; `llmbench merge` joins the parts',
  value: 'I/N',
  parse: (texts) => {
    const [, part, parts] = /^(\d{1,5})\/(\d{1,5})$/.exec(texts.at(-1) ?? '') ?? [];
    const share = { part: Number(part), parts: Number(parts) };
    if (!(share.parts <= MAX_SHARDS) || !(share.part < share.parts))
      throw new Error(`I/N with N up to ${MAX_SHARDS} and I from 0 to N - 1, such as 0/4`);
    return share;
  },
  fallback: null,
  requires: [
    '--run-id, the same on all shards',
    '--upload, through which the shards agree on a start, or --start-at, the same on all shards',
  ],
  conflicts: { check: 'merge the run, then use llmbench check' },
};

/** What generates the load: threads of this machine, and other machines. */
export const WORKER_OPTIONS = {
  workers: integer(
    'threads that generate the load, each with its part of --concurrency and --prefill-concurrency (default: as many as the load needs)',
    { min: 1, max: MAX_WORKERS },
    null,
  ),
  shard: SHARD,
  'start-at': text(
    'TIME',
    'with --shard: start of the measurement on all shards, such as 2030-01-31T12:00:00Z; default: with --upload, when all shards are ready',
    null,
    { requires: ['--shard'] },
  ),
  'start-timeout': seconds(
    'with --shard and --upload: maximum time to wait until all shards are ready',
    { min: 1, max: 86_400 },
    600,
  ),
  'shard-timeout': seconds(
    'with --shard and --upload: time without a sign of life after which another shard is lost',
    { min: 2, max: 3600 },
    60,
  ),
};

/** The requested shard. Throws a `CliError`. */
export function requestedShard({
  shard,
  'start-at': startAt,
}: OptionValues<typeof WORKER_OPTIONS>): ShardRequest | null {
  return shard && { share: shard, startAt_ms: startAt === null ? null : instant(startAt) };
}

/** RFC 3339, with the offset that makes it an instant. */
function instant(given: string): number {
  const isInstant = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/.test(given);
  const time_ms = isInstant ? Date.parse(given) : NaN;
  if (Number.isNaN(time_ms))
    throw new CliError(`--start-at is '${given}' and must be a time such as 2030-01-31T12:00:00Z (RFC 3339)`);
  return time_ms;
}
