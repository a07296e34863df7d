import type { Command } from './command.ts';

export const COMMANDS: readonly Command[] = [
  {
    name: 'run',
    summary: 'benchmark a server and store the result as a run',
    load: () => import('./commands/run.ts'),
    loadHelp: async (argv) => {
      const [{ sectionedHelp }, { RUN_HELP }] = await Promise.all([
        import('./options/help-text.ts'),
        import('./options/run-options.ts'),
      ]);
      return sectionedHelp(RUN_HELP, argv);
    },
  },
  {
    name: 'serve',
    summary: 'expose the finished runs as Prometheus metrics',
    load: () => import('./commands/serve.ts'),
  },
  {
    name: 'collect',
    summary: "collect and summarize servers' metrics without a benchmark",
    load: () => import('./commands/collect.ts'),
  },
  {
    name: 'watch',
    summary: "run another tool's benchmark as a run: live, with its servers and its results",
    load: () => import('./commands/watch.ts'),
  },
  {
    name: 'plan',
    summary: 'make the plan of a run from the load that a Prometheus recorded',
    load: () => import('./commands/plan.ts'),
  },
  { name: 'import', summary: "import other tools' results as runs", load: () => import('./commands/import.ts') },
  {
    name: 'runs',
    summary: 'list, show, query, export, tag, delete, verify and share runs',
    load: () => import('./commands/runs.ts'),
  },
  {
    name: 'merge',
    summary: 'merge the shards that several machines measured into one run',
    load: () => import('./commands/merge.ts'),
  },
  {
    name: 'compare',
    summary: 'compare two sets of runs, with a verdict per measure',
    load: () => import('./commands/compare.ts'),
  },
  {
    name: 'ab',
    summary: 'measure two servers in interleaved pairs and compare them',
    load: () => import('./commands/ab.ts'),
  },
  {
    name: 'check',
    summary: 'judge the newest run against the baseline of its scenario',
    load: () => import('./commands/check.ts'),
  },
  {
    name: 'baseline',
    summary: 'show or change the runs that are normal for a scenario',
    load: () => import('./commands/baseline.ts'),
  },
  {
    name: 'regression',
    summary: 'show the open regression of a scenario, or acknowledge it',
    load: () => import('./commands/regression.ts'),
  },
  {
    name: 'history',
    summary: 'show the runs of a scenario with verdicts and change points',
    load: () => import('./commands/history.ts'),
  },
  {
    name: 'report',
    summary: "write the report of a finished run again, or export it in another tool's format",
    load: () => import('./commands/report.ts'),
  },
  {
    name: 'backfill',
    summary: 'write finished runs to Prometheus with their original timestamps',
    load: () => import('./commands/backfill.ts'),
  },
  {
    name: 'push',
    summary: 'send queued samples to a remote-write receiver',
    load: () => import('./commands/push.ts'),
  },
  {
    name: 'explain',
    summary: 'explain a metric, or the contents of a metrics page',
    load: () => import('./commands/explain.ts'),
  },
  {
    name: 'buckets',
    summary: "show how wide percentiles of servers' histograms are, and which bounds narrow them",
    load: () => import('./commands/buckets.ts'),
  },
  { name: 'simulate', summary: 'start a simulated inference server', load: () => import('./commands/simulate.ts') },
  {
    name: 'demo',
    summary: 'run simulator, benchmark, exporter and Prometheus together',
    load: () => import('./commands/demo.ts'),
  },
  {
    name: 'completion',
    summary: 'print the completion script of a shell: bash, zsh or fish',
    load: () => import('./commands/completion.ts'),
  },
];
