import type { Bench, Row } from '../bench.ts';
import { CONFIGURATIONS } from './configurations.ts';
import { virtualSearch, type VirtualSearch } from './virtual-search.ts';

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
