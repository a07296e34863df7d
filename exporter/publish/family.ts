import { Registry, collectDefaultMetrics, type Metric } from 'prom-client';
import {
  metadataLines,
  sampleLines,
  type FamilyInput,
  type SampleInput,
  type PageFormat,
} from '../../core/exposition/index.ts';

/** A metric family whose samples are read when a page is rendered. */
export interface LiveFamily {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** True: it describes the process and not the run; absent: the run. */
  readonly ofProcess?: boolean;
  samples(): readonly SampleInput[];
}

/** A prom-client registry that holds these families, in their order. Throws when two have one name. */
export function registryOf(families: readonly LiveFamily[]): Registry {
  const registry = new Registry();
  for (const family of families) registry.registerMetric(asMetric(family));
  return registry;
}

/** The families of a registry as they are now. */
export async function readFamilies(registry: Registry): Promise<readonly FamilyInput[]> {
  const metrics = (await registry.getMetricsAsJSON()) as unknown as readonly CollectedFamily[];
  return metrics.map(({ values, ...metadata }) => ({ ...metadata, samples: values }));
}

type CollectedFamily = Pick<LiveFamily, 'name' | 'help' | 'type'> & { readonly values: readonly SampleInput[] };

/** prom-client's registry needs only a metric's name and `get()`; its types name only its own classes. */
function asMetric(family: LiveFamily): Metric {
  const { name, help, type } = family;
  const get = (): Promise<CollectedFamily> => Promise.resolve({ name, help, type, values: family.samples() });
  return { name, type, get } as unknown as Metric;
}

const NAME = /^[A-Za-z_:][0-9A-Za-z_:]*$/;

/**
 * The same families. Files of a run may come from anywhere: a unit or a number of theirs that is none must not end up as
 * lines of a page that has the runs of others too. Throws an `Error` that names what is wrong.
 */
export function checkedFamilies(families: FamilyInput[]): FamilyInput[] {
  for (const { name, samples } of families) {
    if (!NAME.test(name)) throw new Error(`${JSON.stringify(name)} cannot be the name of a metric`);
    const wrong = samples.find(({ value }) => typeof (value as unknown) !== 'number');
    if (wrong !== undefined) throw new Error(`a value of ${name} is no number`);
  }
  return families;
}

/**
 * The families that prom-client exposes by default and that several scrapers can read without an effect on each other. The
 * others are left out: the event loop's lag is reset by each scrape, and gauges whose names end in `_total` are taken for
 * counters.
 */
const FAMILIES: ReadonlySet<string> = new Set([
  'process_cpu_user_seconds_total',
  'process_cpu_system_seconds_total',
  'process_cpu_seconds_total',
  'process_start_time_seconds',
  'process_resident_memory_bytes',
  'process_virtual_memory_bytes',
  'process_open_fds',
  'process_max_fds',
  'nodejs_heap_size_total_bytes',
  'nodejs_heap_size_used_bytes',
  'nodejs_external_memory_bytes',
]);

/** The lag is not exposed: its monitor, which cannot be switched off, may be coarse. */
const LAG_PRECISION_MS = 1000;

/** CPU, memory and files of this process, by the names of Prometheus' client libraries. */
export class ProcessMetrics {
  readonly #registry = new Registry();

  constructor() {
    collectDefaultMetrics({ register: this.#registry, eventLoopMonitoringPrecision: LAG_PRECISION_MS });
  }

  /** The lines of the families, without the end of a page. */
  async lines(format: PageFormat): Promise<string> {
    const families = (await readFamilies(this.#registry)).filter(({ name }) => FAMILIES.has(name));
    return families.map((family) => metadataLines(family, format) + sampleLines(family)).join('');
  }
}
