/** What the user stated about the cost of the GPUs. */
export interface GpuPrice {
  /** Of one GPU for an hour. */
  readonly per_hour: number;
  /** Three letters of ISO 4217; null: not stated. */
  readonly currency: string | null;
}

/** As `2.5 EUR per GPU hour`: the price as it was stated. */
function gpuPriceText({ per_hour, currency }: GpuPrice): string {
  return `${per_hour}${currency === null ? '' : ` ${currency}`} per GPU hour`;
}

/** A setting as the server reports it. */
export type SettingValue = string | number | boolean;

/** What a server reported about itself when the run began. */
export interface ServerFacts {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Catalog of its metrics page; null: not recognized. */
  readonly system: string | null;
  /** Null: it reported none. */
  readonly version: string | null;
  /** A fixed list of settings per system; those that it did not report are absent. */
  readonly settings: Readonly<Record<string, SettingValue>>;
  /** The proxy that the requests went through, without credentials; absent: none, or not known. */
  readonly proxy?: string;
}

/** GPUs of one model and driver. */
export interface GpuFacts {
  readonly model: string;
  readonly count: number;
  readonly driver_version: string | null;
  /** The highest among them when the run began. */
  readonly sm_clock_hertz: number | null;
  readonly memory_clock_hertz: number | null;
  readonly source: 'dcgm' | 'amd_exporter' | 'nvidia_smi' | 'rocm_smi';
}

/** The commit that the caller worked on. */
export interface CommitFacts {
  readonly commit: string;
  /** Whether tracked files were changed; null: not known. */
  readonly dirty: boolean | null;
}

/** The CI job of the caller; null where the system does not report it. */
export interface CiFacts {
  readonly provider: 'github' | 'gitlab' | 'buildkite' | 'jenkins';
  readonly repository: string | null;
  readonly ref: string | null;
  readonly job: string | null;
  readonly run: string | null;
  readonly url: string | null;
}

/** The machine that sent the requests. */
export interface MachineFacts {
  readonly cores: number;
  readonly cpu_model: string | null;
  readonly memory_bytes: number;
  readonly kernel: string;
  readonly architecture: string;
  readonly node_version: string;
}

/** What was measured, by whom and from where. Not part of the fingerprint; null where it is not known. */
export interface Provenance {
  readonly servers: readonly ServerFacts[];
  /** Of all collected targets; empty: none was reported. */
  readonly gpus: readonly GpuFacts[];
  readonly source_code: CommitFacts | null;
  readonly ci: CiFacts | null;
  /** Container image of the server, as the user stated it. */
  readonly server_image: string | null;
  readonly machine: MachineFacts | null;
  /** Null: not stated. */
  readonly gpu_price: GpuPrice | null;
  /** GPUs that serve the requests, as the user stated it. */
  readonly gpu_count: number | null;
  /** The user's own facts. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** Name and text of each known fact; one line each. */
export function provenanceFacts(provenance: Provenance): readonly (readonly [name: string, text: string])[] {
  const { servers, gpus, source_code, ci, server_image, gpu_price, gpu_count, machine, metadata } = provenance;
  const named = (server: ServerFacts): string => (servers.length > 1 ? `settings of ${server.origin}` : 'settings');
  const facts: readonly (readonly [string, string | null])[] = [
    ...servers.map((server) => [named(server), settingsText(server.settings)] as const),
    ['proxy', [...new Set(servers.flatMap(({ proxy }) => proxy ?? []))].join(', ')],
    ['server image', server_image],
    ['GPUs', gpus.map(gpuText).join('; ')],
    ['GPU price', gpu_price && gpuPriceText(gpu_price)],
    ['GPU count', gpu_count === null ? null : String(gpu_count)],
    ['client', machine && machineText(machine)],
    ['commit', source_code && `${source_code.commit}${source_code.dirty === true ? ', with changes' : ''}`],
    ['CI job', ci && [ci.provider, ci.repository, ci.ref, ci.job, ci.run, ci.url].filter(isText).join(' ')],
    ['metadata', settingsText(metadata)],
  ];
  return facts.flatMap(([name, text]) => (text === null || text === '' ? [] : [[name, text] as const]));
}

/** Each fact by its path, for a comparison; addresses, clocks and what names one CI job differ by themselves. */
export function comparableFacts(provenance: Provenance | null): ReadonlyMap<string, string> {
  if (provenance === null) return new Map();
  const { servers, gpus, source_code, server_image, gpu_price, gpu_count, machine, metadata } = provenance;
  const numbered = (prefix: string, i: number): string => (i === 0 ? prefix : `${prefix} ${i + 1}`);
  return new Map<string, string>([
    ...servers.flatMap(({ version, settings, proxy }, i) => {
      const name = numbered('server', i);
      const own: [string, string][] = [
        ...Object.entries(settings).map(([key, value]): [string, string] => [`${name} ${key}`, String(value)]),
        ...(proxy === undefined ? [] : [[`${name} proxy`, proxy] satisfies [string, string]]),
      ];
      return version === null ? own : ([[`${name} version`, version], ...own] satisfies [string, string][]);
    }),
    ...gpus.map((gpu, i): [string, string] => [
      numbered('GPUs', i),
      [gpu.count, gpu.model, ...(gpu.driver_version === null ? [] : [`driver ${gpu.driver_version}`])].join(' '),
    ]),
    ...(server_image === null ? [] : [['server image', server_image] as const]),
    ...(gpu_price === null ? [] : [['GPU price', gpuPriceText(gpu_price)] as const]),
    ...(gpu_count === null ? [] : [['GPU count', String(gpu_count)] as const]),
    ...(machine === null ? [] : [['client', machineText(machine)] as const]),
    ...(source_code === null
      ? []
      : [['commit', `${source_code.commit}${source_code.dirty === true ? ' with changes' : ''}`] as const]),
    ...Object.entries(metadata).map(([key, value]) => [`metadata ${key}`, value] as const),
  ]);
}

/** A fact in which two sets of runs differ, with the values of each set. */
export interface FactDifference {
  readonly name: string;
  readonly a: readonly string[];
  readonly b: readonly string[];
}

/** What differs between two sets of runs; a fact that one set does not have is no value there. */
export function differingFacts(
  a: readonly (Provenance | null)[],
  b: readonly (Provenance | null)[],
): readonly FactDifference[] {
  const sides = [a.map(comparableFacts), b.map(comparableFacts)] as const;
  const names = [...new Set(sides.flat().flatMap((facts) => [...facts.keys()]))];
  const valuesOf = (side: readonly ReadonlyMap<string, string>[], name: string): readonly string[] =>
    [...new Set(side.flatMap((facts) => facts.get(name) ?? []))].sort();
  return names
    .map((name) => ({ name, a: valuesOf(sides[0], name), b: valuesOf(sides[1], name) }))
    .filter((fact) => fact.a.join('\n') !== fact.b.join('\n'));
}

/** `8 NVIDIA H100 80GB HBM3`; empty: not known. */
export const gpuNames = (gpus: readonly GpuFacts[]): string =>
  gpus.map(({ count, model }) => `${count} ${model}`).join(', ');

const isText = (text: string | null): text is string => text !== null;

const settingsText = (settings: ServerFacts['settings']): string =>
  Object.entries(settings)
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(', ');

function gpuText({ count, model, driver_version, sm_clock_hertz, memory_clock_hertz }: GpuFacts): string {
  const clock = (name: string, hertz: number | null): string | null =>
    hertz === null ? null : `${name} ${Math.round(hertz / 1e6)} MHz`;
  const driver = driver_version === null ? null : `driver ${driver_version}`;
  return [`${count} ${model}`, driver, clock('SM', sm_clock_hertz), clock('memory', memory_clock_hertz)]
    .filter(isText)
    .join(', ');
}

function machineText({ cores, cpu_model, memory_bytes, kernel, architecture, node_version }: MachineFacts): string {
  const memory = `${(memory_bytes / 2 ** 30).toFixed(1)} GiB`;
  const cpu = cpu_model === null ? `${cores} cores` : `${cores} cores (${cpu_model})`;
  return [cpu, memory, `${kernel} ${architecture}`, `Node ${node_version}`].join(', ');
}
