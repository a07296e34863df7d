import { RESOLUTION_RATIO, nextStep, type LoadRange, type SearchStep } from '../../exporter/run/find/next-step.ts';
import { objectiveTest } from '../../exporter/run/find/objective-test.ts';
import type { Bench, Row } from '../bench.ts';
import { virtualProbe, CONFIGURATIONS, type CapacityConfiguration, type VirtualProbe } from './configurations.ts';

/** A whole search on the virtual clock. */
interface VirtualSearch {
  readonly end: Extract<SearchStep, { kind: 'end' }>;
  readonly probes: readonly (VirtualProbe & { readonly load: number })[];
  readonly requests: number;
  readonly seconds: number;
  readonly enclosesCapacity: boolean;
  readonly isWithinResolution: boolean;
  /**
   * Requests of a linear sweep with the same resolution: one run at every load from the start to the failing one, in steps of
   * the interval that was found, each with the requests that deciding next to the capacity took. Without repeats.
   */
  readonly sweepRequests: number;
}

/** The ranges of a search from 1, without knowledge of the server. */
const RANGES: Readonly<Record<LoadRange['load'], LoadRange>> = {
  concurrency: { load: 'concurrency', start: 1, min: 1, max: 1024 },
  request_rate: { load: 'request_rate', start: 1, min: 0.01, max: 10_000 },
};

function virtualSearch(configuration: CapacityConfiguration, seed: number): VirtualSearch {
  const { parameters, traffic, slo, capacity } = configuration;
  const tests = [objectiveTest(slo, [])];
  const range = RANGES[traffic.load];
  const probes: (VirtualProbe & { readonly load: number })[] = [];
  for (;;) {
    const step = nextStep(range, probes);
    if (step.kind === 'end') {
      const { holds, fails } = step;
      const requests = probes.reduce((sum, probe) => sum + probe.requests, 0);
      const isWithinResolution =
        holds !== null &&
        fails !== null &&
        (fails / holds <= RESOLUTION_RATIO || (traffic.load === 'concurrency' && fails - holds === 1));
      return {
        end: step,
        probes,
        requests,
        seconds: probes.reduce((sum, probe) => sum + probe.seconds, 0),
        enclosesCapacity: (holds ?? 0) <= capacity && capacity <= (fails ?? Infinity),
        isWithinResolution,
        sweepRequests: holds === null || fails === null ? NaN : sweepRequests(probes, range.start, holds, fails),
      };
    }
    const { load, isConfirming } = step;
    const probe = { load, isConfirming, seed: seed * 1000 + probes.length };
    probes.push({ ...virtualProbe(parameters, traffic, tests, probe), load });
  }
}

function sweepRequests(
  probes: readonly (VirtualProbe & { readonly load: number })[],
  start: number,
  holds: number,
  fails: number,
): number {
  const deciding = probes.filter(({ load }) => load === holds || load === fails).map(({ requests }) => requests);
  return Math.ceil((fails - start) / (fails - holds) + 1) * Math.max(...deciding);
}

const SEARCHES = 100;

/** Searches whose bounds do not enclose the capacity, and what a search costs beside a sweep. */
export const find: Bench = {
  name: 'find',
  question: 'how often run --find misses a known capacity, and what it sends beside a sweep (simulated)',
  measure(context) {
    context.note(
      `${SEARCHES} searches from a load of 1 for each configuration, on the virtual clock of the simulator.`,
    );
    context.note(
      'The sweep has the same resolution: one run at every load from 1 to the failing one, in steps of the interval that the ' +
        'search found, each with the requests that the longest probe at the two bounds took, without repeats.',
    );
    const rows = CONFIGURATIONS.flatMap((configuration) => {
      const searches = Array.from({ length: SEARCHES }, (_, seed) => virtualSearch(configuration, seed + 1));
      context.note(`${configuration.name}: ${configuration.objectiveText}, capacity ${configuration.capacity}`);
      return rowsOf(configuration.name, searches);
    });
    return Promise.resolve(rows);
  },
};

function rowsOf(name: string, searches: readonly VirtualSearch[]): Row[] {
  const count = (holds: (search: VirtualSearch) => boolean): number => searches.filter(holds).length;
  const mean = (value: (search: VirtualSearch) => number): number =>
    searches.reduce((sum, search) => sum + value(search), 0) / searches.length;
  return [
    {
      what: `${name}: searches of ${searches.length} that miss the capacity`,
      unit: '',
      ours: [count(({ enclosesCapacity }) => !enclosesCapacity)],
      peer: null,
      target: { by: 'value', atMost: 0.05 * searches.length },
    },
    {
      what: `${name}: with bounds more than 1.1 times apart`,
      unit: '',
      ours: [count(({ isWithinResolution }) => !isWithinResolution)],
      peer: null,
      target: { by: 'value', atMost: 0 },
    },
    {
      what: `${name}: requests of a search, beside a sweep`,
      unit: 'requests',
      ours: [mean(({ requests }) => requests)],
      peer: [mean(({ sweepRequests }) => sweepRequests)],
      target: { by: 'ratio', atMost: 0.5 },
    },
  ];
}
