import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bundlePage } from './bundle.ts';
import { hostUrl, startHost } from './server.ts';

const HELP = `Shows the built plugin in a browser without a Grafana server, on data of a Prometheus.

  npm run host -- --prometheus http://127.0.0.1:9090

  --prometheus URL   the Prometheus to query (http://127.0.0.1:9090)
  --exporter URL     the exporter, llmbench serve (http://127.0.0.1:9469)
  --port N           port of the page (a free one)
  --query PROMQL     what the panel shows; may be given several times
                     (llmbench_time_to_first_token_seconds_bucket)
  --format F         time_series, heatmap or table (time_series)
  --range SECONDS    length of the time range that ends now (900)
  --theme T          dark or light (dark)

The panel's are parameters of the page's address too. Run npm run build first.`;

const { values } = parseArgs({
  options: {
    prometheus: { type: 'string', default: 'http://127.0.0.1:9090' },
    exporter: { type: 'string', default: 'http://127.0.0.1:9469' },
    port: { type: 'string', default: '0' },
    query: { type: 'string', multiple: true, default: ['llmbench_time_to_first_token_seconds_bucket'] },
    format: { type: 'string', default: 'time_series' },
    range: { type: 'string', default: '900' },
    theme: { type: 'string', default: 'dark' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  console.log(HELP);
} else if (!existsSync(fileURLToPath(new URL('../dist/plugin.json', import.meta.url)))) {
  console.error('There is no dist/ yet: run npm run build first.');
  process.exitCode = 1;
} else {
  await bundlePage('production');
  const { url } = await startHost({
    prometheusUrl: values.prometheus,
    exporterUrl: values.exporter,
    port: Number(values.port),
  });
  const { query, format, range, theme } = values;
  console.log(`Panel  ${hostUrl(url, { query, format, range, theme })}`);
  console.log(`App    ${url}/a/llmbench-observability-app/runs?theme=${theme}`);
  console.log('Ctrl-C ends it.');
}
