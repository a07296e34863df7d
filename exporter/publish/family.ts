import { createRequire } from 'node:module';
import type { Metric, Registry as PromRegistry } from 'prom-client';
import type { FamilyInput, SampleInput } from '../../core/exposition/index.ts';

/**
 * prom-client's registry alone: with its default metrics it loads OpenTelemetry's API, 60 ms of processor time. As with undici,
 * package.json accepts only patch releases.
 */
const Registry = createRequire(import.meta.url)('prom-client/lib/registry.js') as typeof PromRegistry;

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
export function registryOf(families: readonly LiveFamily[]): PromRegistry {
  const registry = new Registry();
  for (const family of families) registry.registerMetric(asMetric(family));
  return registry;
}

/** The families of a registry as they are now. */
export async function readFamilies(registry: PromRegistry): Promise<readonly FamilyInput[]> {
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
