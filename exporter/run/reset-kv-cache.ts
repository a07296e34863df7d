import { setTimeout as sleep } from 'node:timers/promises';
import { messageExcerpt } from '../bench/message-excerpt.ts';
import type { Target } from '../bench/target.ts';
import type { Transport } from '../bench/transport.ts';
import { ExchangeError, wholeAnswer, type WholeAnswer } from '../bench/whole-answer.ts';
import { RefusedError } from './refusal.ts';

/** What `--reset-kv-cache` asks for. */
export interface CacheReset {
  /** Null: the one that the recognised system is known to have. */
  readonly path: string | null;
  /** Of one request. */
  readonly timeoutSeconds: number;
}

/** AIPerf's default. */
export const DEFAULT_RESET_TIMEOUT_SECONDS = 30;

/** Where engines empty the cache of prefixes, by `POST`. vLLM has it with `VLLM_SERVER_DEV_MODE=1` only. */
const PATHS: Readonly<Record<string, string>> = {
  vllm: '/reset_prefix_cache',
  sglang: '/flush_cache',
  smg: '/flush_cache',
};

/** A server that is busy says so with one of these and is asked again, as AIPerf does. */
const BUSY: ReadonlySet<number> = new Set([409, 423, 429, 503]);
const MOST_SECONDS = 60;

/** Where a system empties its cache. Throws a `RefusedError` when it has no such endpoint, or the system is not known. */
export function resetPath({ path }: CacheReset, system: string | null): string {
  if (path !== null) return path;
  const known = system === null ? undefined : PATHS[system];
  if (known !== undefined) return known;
  throw new RefusedError(
    system === null
      ? '--reset-kv-cache: no metrics page tells which server this is; name the path with --reset-kv-cache-path'
      : `--reset-kv-cache: ${system} has no endpoint that empties its cache (vLLM and SGLang have); ` +
          'where yours has one, name it with --reset-kv-cache-path',
  );
}

/** The way to one server. */
export interface ServerWay {
  readonly target: Pick<Target, 'origin'>;
  readonly transport: Transport;
}

/**
 * Empties the cache of every server before a run. Throws a `RefusedError` when one does not do it: a run that was to begin
 * with a cold cache must not begin with a warm one.
 */
export async function resetCaches(
  reset: CacheReset,
  system: string | null,
  servers: readonly ServerWay[],
  headers: Readonly<Record<string, string>>,
  pauseSeconds = 1,
): Promise<void> {
  const path = resetPath(reset, system);
  for (const { target, transport } of servers) {
    const refused = (why: string): RefusedError =>
      new RefusedError(`--reset-kv-cache: ${target.origin}${path}: ${why}${hint(system)}`);
    const until = performance.now() + MOST_SECONDS * 1000;
    for (;;) {
      const answer = await ask(transport, path, headers, reset.timeoutSeconds, refused);
      if (answer.status >= 200 && answer.status < 300) break;
      const said = messageExcerpt(answer.body.trim());
      if (!BUSY.has(answer.status) || performance.now() > until)
        throw refused(`HTTP ${answer.status}${said === '' ? '' : ` (${said})`}`);
      await sleep(pauseSeconds * 1000);
    }
  }
}

async function ask(
  transport: Transport,
  path: string,
  headers: Readonly<Record<string, string>>,
  timeoutSeconds: number,
  refused: (why: string) => RefusedError,
): Promise<WholeAnswer> {
  try {
    return await wholeAnswer(transport, { method: 'POST', path, headers, body: '' }, timeoutSeconds);
  } catch (error) {
    if (error instanceof ExchangeError) throw refused(error.message);
    throw error;
  }
}

function hint(system: string | null): string {
  return system === 'vllm' ? '; vLLM has it when VLLM_SERVER_DEV_MODE=1 is set' : '';
}
