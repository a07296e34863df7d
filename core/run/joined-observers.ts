import type { RunObserver } from './run-observer.ts';

/** One observer that passes everything on to several, in their order. */
export function joinedObservers(observers: readonly RunObserver[]): Required<RunObserver> {
  const each = <K extends keyof RunObserver>(event: K, given: Parameters<NonNullable<RunObserver[K]>>): void => {
    for (const one of observers) (one[event] as ((...values: typeof given) => void) | undefined)?.apply(one, given);
  };
  return {
    phaseStarted: (...given) => each('phaseStarted', given),
    phaseEnded: (...given) => each('phaseEnded', given),
    stageStarted: (...given) => each('stageStarted', given),
    stageEnded: (...given) => each('stageEnded', given),
    requestSent: (...given) => each('requestSent', given),
    firstContent: (...given) => each('firstContent', given),
    chunkGap: (...given) => each('chunkGap', given),
    requestEnded: (...given) => each('requestEnded', given),
    eventLoopDelay: (...given) => each('eventLoopDelay', given),
    clientSaturated: (...given) => each('clientSaturated', given),
  };
}
