import { monotonicNow_ns, runEpoch } from '../../clock/monotonic-clock.ts';
import { collectServers } from '../../servers/collect-servers.ts';
import { discoverLocal } from '../../servers/scrape/discover.ts';
import { readNamedPages, type NamedTargets } from '../../servers/scrape/named-pages.ts';
import { codeOf, reasonOf } from '../../errors/expected-error.ts';
import { CliError, ExitCode } from '../failure.ts';
import { command } from '../command.ts';
import { flag, seconds, text, type OptionValues } from '../options/options.ts';
import {
  DEFAULT_INTERVAL_SECONDS,
  definitions,
  formats,
  INTERVAL_RANGE,
  FOUND_PAGES_OPTIONS,
  PAGE_CREDENTIAL_OPTIONS,
  pageCredentials,
  targets,
} from '../options/server-options.ts';
import { PROXY_OPTIONS, TLS_OPTIONS, tlsFiles } from '../options/tls-options.ts';
import { serverTables } from '../tables/server-table.ts';
import { untilStopped } from '../until-stopped.ts';
import { VERSION } from '../version.ts';

const ONE_WEEK_SECONDS = 604_800;

export const OPTIONS = {
  'server-metrics': targets(
    'metrics endpoints: http://host:8000/metrics, host:8000, a system and host: triton=host, pods: k8s:NAMESPACE/SELECTOR, or http-sd:URL',
  ),
  'gpu-telemetry': targets('DCGM exporter endpoints (default port 9400)'),
  ...FOUND_PAGES_OPTIONS,
  ...PAGE_CREDENTIAL_OPTIONS,
  ...TLS_OPTIONS,
  ...PROXY_OPTIONS,
  'discover-local': flag('also scrape local ports that respond'),
  duration: seconds('collection time (default: until Ctrl-C)', { min: 0.1, max: ONE_WEEK_SECONDS }, null),
  interval: seconds('scrape interval', INTERVAL_RANGE, DEFAULT_INTERVAL_SECONDS),
  'slice-duration': seconds(
    'also report statistics per slice of this length',
    { min: 0.1, max: ONE_WEEK_SECONDS },
    null,
  ),
  'server-metrics-formats': formats,
  stats: definitions,
  out: text('DIR', 'output directory for servers.json, servers.parquet and the exports', 'server-metrics'),
  json: flag('print servers.json instead of tables'),
};

const EXAMPLES = [
  'llmbench collect --server-metrics localhost:8000 --duration 60',
  'llmbench collect --server-metrics localhost:8000 triton=gpu1 --interval 0.333 --out /data/servers',
  'llmbench collect --server-metrics k8s:inference/app=vllm --duration 60',
  'llmbench collect --discover-local --server-metrics-formats json csv jsonl parquet --slice-duration 10',
];

/** Collects the metrics of servers without a benchmark. */
export const run = command(
  OPTIONS,
  { usage: 'llmbench collect --server-metrics URL… [options]', examples: EXAMPLES },
  async ({ options }) => {
    const { targets: wanted, searches } = await wantedTargets(options);
    const epoch = runEpoch();
    const ended = new AbortController();
    void untilStopped().then(() => ended.abort());
    try {
      const { file, written } = await collectServers({
        targets: wanted,
        searches,
        intervalSeconds: options.interval,
        epoch,
        now_ns: () => monotonicNow_ns() - epoch.monotonic_ns,
        durationSeconds: options.duration,
        until: ended.signal,
        sliceSeconds: options['slice-duration'],
        definitions: options.stats,
        formats: options['server-metrics-formats'],
        directory: options.out,
        tool: `llmbench ${VERSION}`,
        report: (line) => void process.stderr.write(`${line}\n`),
      });
      process.stdout.write(
        options.json ? `${JSON.stringify(file, null, 2)}\n` : `${serverTables(file)}\n\n${written.join('\n')}\n`,
      );
      if (file.targets.every(({ scrapes }) => scrapes === 0))
        throw new CliError('no target returned metrics', ExitCode.failed);
      return ExitCode.done;
    } catch (error) {
      const code = codeOf(error);
      if (code === null) throw error;
      throw new CliError(`cannot write to ${options.out}: ${reasonOf(error)}`, ExitCode.failed);
    }
  },
);

async function wantedTargets(options: OptionValues<typeof OPTIONS>): Promise<NamedTargets> {
  const common = {
    credentials: pageCredentials(options),
    tls: tlsFiles(options),
    maxFoundPages: options['max-found-pages'],
  };
  const pages = [...options['server-metrics'], ...options['gpu-telemetry']];
  const { targets: named, searches } = await readNamedPages(pages, common, [], process.env, (line) => {
    process.stderr.write(`${line}\n`);
  });
  const found = options['discover-local'] ? await discoverLocal() : [];
  const all = [...named, ...found];
  for (const { name } of found) process.stderr.write(`found ${name}\n`);
  if (all.length > 0) return { targets: all, searches };
  if (options['discover-local']) throw new CliError('no local port serves metrics of a known system', ExitCode.failed);
  throw new CliError('--server-metrics is required, for example --server-metrics localhost:8000');
}
