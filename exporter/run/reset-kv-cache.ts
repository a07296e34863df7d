import { ownValue } from '../../core/text/nearest-names.ts';
import { ExpectedError } from '../errors/expected-error.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageExcerpt } from '../errors/message-excerpt.ts';
import type { RequestTarget } from '../load/transports/target.ts';
import type { Transport } from '../load/transports/transport.ts';
import { ExchangeError, wholeResponse, type WholeResponse } from '../load/responses/whole-reader.ts';

/** The options of `--reset-kv-cache`. */
export interface CacheReset {
  /** Null: the known endpoint of the recognized system. */
  readonly path: string | null;
  /** Per request. */
  readonly timeoutSeconds: number;
}

/** AIPerf's default. */
export const DEFAULT_RESET_TIMEOUT_SECONDS = 30;

/**
 * The endpoint that resets the prefix cache of each engine, by `POST`. vLLM has it only with `VLLM_SERVER_DEV_MODE=1`.
 */
const PATHS: Readonly<Record<string, string>> = {
  vllm: '/reset_prefix_cache',
  sglang: '/flush_cache',
  smg: '/flush_cache',
};

/** Statuses of a busy server: the reset is retried, as AIPerf does. */
const BUSY: ReadonlySet<number> = new Set([409, 423, 429, 503]);
const MAX_SECONDS = 60;

/**
 * The endpoint that resets a system's cache. Throws an `ExpectedError` when it has no such endpoint, or the system is not
 * known.
 */
export function resetPath({ path }: CacheReset, system: string | null): string {
  if (path !== null) return path;
  const known = system === null ? undefined : ownValue(PATHS, system);
  if (known !== undefined) return known;
  throw new ExpectedError(
    'refused',
    system === null
      ? '--reset-kv-cache: the server is not recognized by a metrics page; set the path with --reset-kv-cache-path'
      : `--reset-kv-cache: ${system} has no known endpoint that resets its cache (vLLM and SGLang have); ` +
          'if yours has one, set it with --reset-kv-cache-path',
  );
}

/** How the request is authorized, and what no message may contain. */
export interface ResetAccess {
  readonly headers: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
}

/** The transport to one server. */
export interface ServerWay {
  readonly target: Pick<RequestTarget, 'origin'>;
  readonly transport: Transport;
}

/**
 * Resets the cache of every server before a run. Throws an `ExpectedError` when one fails: a run that requires a cold
 * cache must not begin with a warm one.
 */
export async function resetCaches(
  reset: CacheReset,
  system: string | null,
  servers: readonly ServerWay[],
  { headers, secrets }: ResetAccess,
  pauseSeconds = 1,
): Promise<void> {
  const path = resetPath(reset, system);
  for (const { target, transport } of servers) {
    const refused = (why: string): ExpectedError =>
      new ExpectedError('refused', `--reset-kv-cache: ${target.origin}${path}: ${why}${hint(system)}`);
    const until = performance.now() + MAX_SECONDS * 1000;
    for (;;) {
      const response = await ask(transport, path, headers, reset.timeoutSeconds, refused);
      if (response.status >= 200 && response.status < 300) break;
      const said = messageExcerpt(response.body.trim(), secrets);
      if (!BUSY.has(response.status) || performance.now() > until)
        throw refused(`HTTP ${response.status}${said === '' ? '' : ` (${said})`}`);
      await sleep(pauseSeconds * 1000);
    }
  }
}

async function ask(
  transport: Transport,
  path: string,
  headers: Readonly<Record<string, string>>,
  timeoutSeconds: number,
  refused: (why: string) => ExpectedError,
): Promise<WholeResponse> {
  try {
    return await wholeResponse(transport, { method: 'POST', path, headers, body: '' }, timeoutSeconds);
  } catch (error) {
    if (error instanceof ExchangeError) throw refused(error.message);
    throw error;
  }
}

function hint(system: string | null): string {
  return system === 'vllm' ? '; vLLM requires VLLM_SERVER_DEV_MODE=1 for it' : '';
}
