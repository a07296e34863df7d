import type { Finding } from './lint.ts';
import { TOKENS_PER_SECOND } from './src/panels/display-units.ts';

/** Findings that are wanted, each with the reason; one that nothing needs any more is an error. */
export interface LintException {
  readonly rules: readonly string[];
  /** The metrics that it is about, or the dashboard as a whole, or its queries, or what is said. */
  readonly about: RegExp | { readonly uid: string } | { readonly queriesOf: string } | { readonly message: string };
  readonly reason: string;
}

/** Dashboards that open with the servers of the chosen runs. */
const SERVERS = ['vllm', 'sglang', 'dynamo', 'trtllm', 'triton', 'kvbm', 'llm-d-epp'].flatMap((system) => {
  const details = ['kvbm', 'llm-d-epp'].includes(system) ? [] : [`llmbench-${system}-details`];
  const ofApp = system === 'kvbm' ? [] : [`llmbench-${system}-app`];
  return [`llmbench-${system}`, ...details, ...ofApp];
});

export const LINT_EXCEPTIONS: readonly LintException[] = [
  {
    rules: ['target-job-rule', 'target-instance-rule'],
    about: /^llmbench_/,
    reason:
      'a run is chosen by its run_id, which no two runs share; job and instance are those of the servers, and the ' +
      'address of a run is another one each time',
  },
  {
    rules: ['target-counter-agg-rule'],
    about: /^llmbench_.+_total$/,
    reason: "a run's counters start at 0 and end with the run, so that their last value is the exact total of the run",
  },
  {
    rules: ['target-job-rule'],
    about: /^system:/,
    reason:
      'the recording rules join what several jobs scrape: their series have system, model and instance, and no job',
  },
  ...['llmbench-client-vs-server', 'llmbench-benchmark'].map((queriesOf): LintException => ({
    rules: ['target-job-rule'],
    about: { queriesOf },
    reason: 'its servers are chosen among recorded series, which have no job: by their instance',
  })),
  ...['llmbench-client-vs-server', 'llmbench-benchmark'].map((uid): LintException => ({
    rules: ['template-job-rule', 'template-instance-rule'],
    about: { uid },
    reason: 'it shows recorded series, which have no job; All instances are those of the chosen runs, not .+',
  })),
  ...SERVERS.map((uid): LintException => ({
    rules: ['template-instance-rule'],
    about: { uid },
    reason: 'All instances are those of the chosen runs, not .+',
  })),
  {
    rules: ['target-job-rule', 'target-instance-rule'],
    about: /^(DCGM_|smg_|agent_)/,
    reason:
      'exporters of GPUs, gateways and agents of NIXL are targets of their own: a variable of its own chooses their instances',
  },
  {
    rules: ['target-counter-agg-rule'],
    about: /^sglang:lora_pool_slots_total$/,
    reason: 'a gauge in spite of its name',
  },
  {
    rules: ['template-job-rule', 'template-instance-rule'],
    about: { uid: 'llmbench-benchmark-app' },
    reason: 'a run is chosen by its run_id, and no server is shown',
  },
  {
    rules: ['template-job-rule', 'template-instance-rule'],
    about: { uid: 'llmbench-history' },
    reason: 'a verdict is one on a scenario, whichever exporter publishes it, and no server is shown',
  },
  {
    rules: ['template-job-rule', 'template-instance-rule'],
    about: { uid: 'llmbench-panels' },
    reason: 'its panels are copied to dashboards that have other variables, or none',
  },
  {
    rules: ['panel-units-rule'],
    about: { message: `unit ${TOKENS_PER_SECOND.unit}` },
    reason: "Grafana has no unit of its own for tokens; 'si:' is its form for others, and c/s would be read as calls",
  },
];

/** A dashboard for native histograms has the exceptions of the classic one. */
export function isExcepted(finding: Finding, uid: string, { rules, about }: LintException): boolean {
  const { rule, metric, message } = finding;
  if (!rules.includes(rule)) return false;
  const classicUid = uid.replace(/-native$/, '');
  if (about instanceof RegExp) return metric !== null && about.test(metric);
  if ('queriesOf' in about) return metric !== null && about.queriesOf === classicUid;
  return metric === null && ('uid' in about ? about.uid === classicUid : about.message === message);
}
