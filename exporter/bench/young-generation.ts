import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** Of one of its halves. Larger ones saved no CPU at any load that was tried, and stay in memory for good. */
const ENOUGH_BYTES = 15e6;
const CHECK_MS = 100;
/** V8's. */
const DEFAULT_FACTOR = 2;

/**
 * Keeps V8 from letting the young generation grow on to 128 MB, which it does under any lasting load. The limit can be
 * given only when Node starts; that it grows no further can be said at any time. It holds for all threads: only for a
 * process whose load is made by its main thread, and until `stop`.
 */
export function boundYoungGeneration(): { stop(): void } {
  const timer = setInterval(() => {
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
    if (young === undefined || young.space_used_size + young.space_available_size < ENOUGH_BYTES) return;
    setGrowthFactor(1);
    clearInterval(timer);
  }, CHECK_MS).unref();
  return {
    stop() {
      clearInterval(timer);
      setGrowthFactor(DEFAULT_FACTOR);
    },
  };
}

function setGrowthFactor(factor: number): void {
  setFlagsFromString(`--semi-space-growth-factor=${factor}`);
}
