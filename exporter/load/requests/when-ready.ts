import { setTimeout as sleep } from 'node:timers/promises';
import { isNotReady, ProbeError } from './probe.ts';

const PAUSE_MS = 1000;

/** How long a command waits for a server that loads its model. */
export interface Readiness {
  /** 0: not at all. */
  readonly seconds: number;
  readonly say: (line: string) => void;
  /** Ends the wait. */
  readonly givenUp?: AbortSignal;
}

/**
 * Repeats a first request until the server is ready: while nothing accepts connections, and while it or a gateway answers
 * 502, 503 or 504. Throws the `ProbeError` of the last attempt.
 */
export async function whenReady<T>(attempt: () => Promise<T>, { seconds, say, givenUp }: Readiness): Promise<T> {
  const start_ms = performance.now();
  const waited_s = (): number => (performance.now() - start_ms) / 1000;
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt();
    } catch (error) {
      const waits = error instanceof ProbeError && isNotReady(error.reason, error.status) && seconds > 0;
      if (!waits || givenUp?.aborted === true) throw error;
      if (waited_s() >= seconds) {
        const line = `${error.message} (not ready after ${Math.round(waited_s())} s)`;
        throw new ProbeError(error.reason, line, error.status);
      }
      if (attempts === 1) say(`waiting until the server is ready, at most ${seconds} s: ${problemOf(error)}`);
      await pause(Math.min(PAUSE_MS, (seconds - waited_s()) * 1000), givenUp);
    }
  }
}

/** The message without its remedy. */
const problemOf = ({ message }: ProbeError): string => message.replace(/\. (?:--wait-ready|Check) .*$/s, '');

async function pause(wait_ms: number, givenUp?: AbortSignal): Promise<void> {
  try {
    await sleep(Math.max(wait_ms, 1), undefined, givenUp && { signal: givenUp });
  } catch (error) {
    if (givenUp?.aborted !== true) throw error;
  }
}
