import type { ServedPage } from '../publish/served-page.ts';
import { isDiscovered } from '../store/recovery/serve-presence.ts';
import { isFirstOfGroup } from './run-outputs.ts';
import type { RunRequest } from './run-request.ts';

/** The shipped configuration discovers runs every 5 s and scrapes them every 2 s. */
const LIMIT_SECONDS = 20;

/** Of a run that is about to send its first request. */
interface AwaitedRun {
  readonly request: Pick<RunRequest, 'awaitScrape' | 'runsDirectory' | 'metricsPort' | 'shard'> &
    Partial<Pick<RunRequest, 'group'>>;
  readonly outputs: { readonly page: ServedPage | null };
  /** The pages that the discovery lists with the run. */
  readonly servers: { readonly recognized: { readonly urls: readonly string[] } } | null;
  readonly host: { say(line: string): void };
  readonly controls: { readonly draining: AbortSignal };
}

/**
 * Waits until a Prometheus that is expected has scraped the live metrics: what it has not seen at 0 is missing from its
 * increases and rates.
 */
export async function awaitScrape({ request, outputs, servers, host, controls }: AwaitedRun): Promise<void> {
  const { page } = outputs;
  if (page === null || request.awaitScrape !== true) return;
  const discovered = await isDiscovered(request.runsDirectory);
  // A port of its own choice is in no static configuration.
  if (!discovered && (request.metricsPort ?? 0) === 0) return;
  const startAt_ms = request.shard?.startAt_ms ?? Infinity;
  const remaining_seconds = (startAt_ms - Date.now()) / 1000;
  const limit_seconds = Math.min(LIMIT_SECONDS, Math.max(0, remaining_seconds));
  // Servers are discovered together with the run: each has been scraped when the run is scraped again.
  const times = discovered && (servers?.recognized.urls.length ?? 0) > 0 ? 2 : 1;
  const isFirst = isFirstOfGroup(request);
  if (isFirst) {
    const what = times === 2 ? 'the live metrics and the servers' : 'the live metrics';
    host.say(
      `waiting until ${what} are scraped, at most ${Math.round(limit_seconds)} s; --no-await-scrape starts at once`,
    );
  }
  if ((await page.scraped(times, limit_seconds, controls.draining)) || controls.draining.aborted || !isFirst) return;
  host.say(`not scraped within ${Math.round(limit_seconds)} s: Prometheus will lack the beginning of the run`);
}
