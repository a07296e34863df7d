import { useCallback, useEffect, useState } from 'react';

export interface Loaded<T> {
  /** The newest data; while newer ones are on their way, the ones before. */
  data: T | undefined;
  error: Error | undefined;
  loading: boolean;
  /** Loads again. */
  reload: () => void;
}

type Load<T> = (signal: AbortSignal) => Promise<T>;

/** The last response, and what it is the response to. */
interface Settled<T> {
  load: Load<T>;
  attempt: number;
  data: T | undefined;
  error: Error | undefined;
}

/**
 * Loads when `load` changes, so it comes from `useCallback`; null loads nothing. A load in progress is aborted when it is
 * no longer wanted.
 */
export function useLoaded<T>(load: Load<T> | null): Loaded<T> {
  const [settled, setSettled] = useState<Settled<T> | null>(null);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    if (load === null) {
      return undefined;
    }
    const controller = new AbortController();
    const settle = (response: Pick<Settled<T>, 'data' | 'error'>) => {
      if (!controller.signal.aborted) {
        setSettled({ load, attempt, ...response });
      }
    };
    load(controller.signal).then(
      (data) => settle({ data, error: undefined }),
      (error: unknown) => settle({ data: undefined, error: asError(error) })
    );
    return () => controller.abort();
  }, [load, attempt]);
  const reload = useCallback(() => setAttempt((n) => n + 1), []);
  if (load === null) {
    return { data: undefined, error: undefined, loading: false, reload };
  }
  const loading = settled === null || settled.load !== load || settled.attempt !== attempt;
  return { data: settled?.data, error: loading ? undefined : settled?.error, loading, reload };
}

const LIVE_REFRESH_MS = 3000;

/** Loads again a while after each response, as long as what is shown is live. */
export function useLiveReload({ loading, reload }: Pick<Loaded<unknown>, 'loading' | 'reload'>, isLive: boolean): void {
  useEffect(() => {
    if (loading || !isLive) {
      return undefined;
    }
    const timer = setTimeout(reload, LIVE_REFRESH_MS);
    return () => clearTimeout(timer);
  }, [loading, isLive, reload]);
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
