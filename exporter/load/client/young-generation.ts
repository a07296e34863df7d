import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** Of one of its halves. Larger halves saved no CPU at any load that was tried, and their memory is never released. */
const ENOUGH_BYTES = 15e6;
const CHECK_MS = 100;
/** V8's default. */
const DEFAULT_FACTOR = 2;

/**
 * Prevents V8 from growing the young generation to 128 MB, which it does under any lasting load. The limit can be set
 * only when Node starts; further growth can be disabled at any time. It applies to all threads: use it only in a
 * process whose main thread generates the load, and until `stop`.
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
