/** One command of the command line; `run` gets what follows its name and gives the exit code. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<{ run(argv: readonly string[]): Promise<number> }>;
}

export const COMMANDS: readonly Command[] = [
  { name: 'run', summary: 'benchmark a server and keep the result as a run', load: () => import('./run.ts') },
  { name: 'serve', summary: 'show the finished runs as Prometheus metrics', load: () => import('./serve.ts') },
  {
    name: 'collect',
    summary: "read servers' metrics pages without a benchmark and sum them up",
    load: () => import('./collect.ts'),
  },
  { name: 'import', summary: "turn other tools' results into runs", load: () => import('./import.ts') },
  { name: 'runs', summary: 'list, show, query, export, tag, delete and verify runs', load: () => import('./runs.ts') },
  {
    name: 'merge',
    summary: 'make one run of the shards that several machines measured',
    load: () => import('./merge.ts'),
  },
  {
    name: 'report',
    summary: "write the report of a finished run again, or the run as another tool's files",
    load: () => import('./report.ts'),
  },
  {
    name: 'backfill',
    summary: 'write finished runs into Prometheus with their true times',
    load: () => import('./backfill.ts'),
  },
  {
    name: 'push',
    summary: 'send what runs have left for a receiver of remote write',
    load: () => import('./push.ts'),
  },
  {
    name: 'explain',
    summary: 'say what a metric means, or what is on a metrics page',
    load: () => import('./explain.ts'),
  },
  { name: 'simulate', summary: 'start a simulated inference server', load: () => import('./simulate.ts') },
  { name: 'demo', summary: 'simulator, benchmark, exporter and Prometheus in one go', load: () => import('./demo.ts') },
];
