import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { shellCommand } from '../../../core/text/words.ts';
import { requestedRuns } from './requested-runs.ts';

async function commands(argv: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<string[]> {
  const { requests } = await requestedRuns(argv, environment);
  return requests.map(({ commandLine }) => shellCommand(commandLine ?? []));
}

const PLAIN = ['--url', 'localhost:8000', '--model', 'm', '--request-count', '5'];

test('flags, environment and scenario file become one command', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'llmbench-command-'));
  const path = join(folder, 'nightly.yaml');
  await writeFile(path, 'url: http://llm:8000\nrequest-count: 5\nmatrix:\n  isl: [64, 256]\n');
  const found = await commands(['--config', path, '--scenario', 'a b'], { LLMBENCH_MODEL: 'm', LLMBENCH_OSL: '32' });
  await rm(folder, { recursive: true });
  const rest = "--osl 32 --scenario 'a b'";
  expect(found).toEqual([
    `llmbench run --url http://llm:8000 --model m --request-count 5 --isl 64 ${rest}`,
    `llmbench run --url http://llm:8000 --model m --request-count 5 --isl 256 ${rest}`,
  ]);
});

test('each run of a sweep has its own load, and none what names or judges the whole', async () => {
  const sweep = ['--concurrency', '1,8', '--num-profile-runs', '2', '--run-id', 'night-7', '--json', '--ignore-eos'];
  const [one, eight, ...repeats] = await commands([...PLAIN, ...sweep]);
  expect(one).toBe('llmbench run --url localhost:8000 --model m --ignore-eos --concurrency 1 --request-count 5');
  expect(eight).toBe('llmbench run --url localhost:8000 --model m --ignore-eos --concurrency 8 --request-count 5');
  expect(repeats).toEqual([one, eight]);
});

test('a metrics page of a scenario file keeps the names of its headers only', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'llmbench-command-'));
  const path = join(folder, 'nightly.yaml');
  const page = '{ url: "http://w:8081/metrics", header: ["X-Key: sk-1"], bearer-env: TOKEN }';
  await writeFile(path, `url: http://llm:8000\nmodel: m\nrequest-count: 5\nserver-metrics: [${page}]\n`);
  const { requests } = await requestedRuns(['--config', path], {});
  await rm(folder, { recursive: true });
  const words = requests[0]?.commandLine ?? [];
  expect(words.at(-1)).toBe('{"url":["http://w:8081/metrics"],"header":["X-Key: ***"],"bearer-env":["TOKEN"]}');
  const again = await requestedRuns(words.slice(2), {});
  expect(again.requests[0]?.serverMetrics?.targets).toMatchObject([{ credentials: { headers: { 'x-key': '***' } } }]);
});

test('what it describes is the same load and dataset again', async () => {
  const argv = [
    ...PLAIN,
    '--seq-dist',
    '256,128:60;512,64:40',
    '--extra-inputs',
    '{"a":"it\'s"}',
    '--slo',
    'ttft:p99<1s',
  ];
  const { requests } = await requestedRuns(argv, {});
  const again = await requestedRuns(requests[0]?.commandLine?.slice(2) ?? [], {});
  expect(again.requests[0]).toEqual({ ...requests[0], textVariant: again.requests[0]?.textVariant });
});

test.each([
  [
    ['--header', 'Authorization: Bearer sk-1', '--header', 'x-user:me:you'],
    "--header 'Authorization: ***' --header 'x-user: ***'",
  ],
  [['--url', 'http://u:p@s@h:8000/v1?api-key=sk-1&v=2#sk-1'], "--url 'http://***@h:8000/v1?api-key=***&v=***'"],
  [['--url', 'user:sk-1@h:8000'], "--url '***@h:8000'"],
  [['--url', 'h:8000/v1?sk-1'], "--url 'h:8000/v1?***'"],
  [
    ['--server-metrics', 'triton=u:sk-1@h:8002,http://k:sk-1@g/metrics?token=sk-1'],
    "--server-metrics 'triton=***@h:8002,http://***@g/metrics?token=***'",
  ],
  [
    ['--server-metrics', 'http-sd:http://u:sk-1@sd:80/targets?token=sk-1'],
    "--server-metrics 'http-sd:http://***@sd:80/targets?token=***'",
  ],
  [['--server-metrics', 'k8s:ns/app=vllm,tier=a'], '--server-metrics k8s:ns/app=vllm,tier=a'],
  [
    ['--remote-write-url', 'http://u:sk-1@p/api/v1/write?t=sk-1'],
    "--remote-write-url 'http://***@p/api/v1/write?t=***'",
  ],
  [
    ['--remote-write-url', 'http://p/', '--remote-write-header', 'X-Key:sk-1'],
    "--remote-write-url http://p/ --remote-write-header 'X-Key: ***'",
  ],
  [
    ['--grafana-url', 'http://u:sk-1@grafana', '--grafana-token-env', 'TOKEN'],
    "--grafana-url 'http://***@grafana' --grafana-token-env TOKEN",
  ],
  [
    ['--extra-inputs', 'api_key:sk-1', '--extra-inputs', 'top_k:1'],
    "--extra-inputs 'api_key:***' --extra-inputs top_k:1",
  ],
  [['--extra-inputs', '{"auth":{"user":"sk-1"}, "top_k":1}'], `--extra-inputs '{"auth":{"user":"***"},"top_k":1}'`],
  [['--extra-inputs', '{"hook":"http://u:sk-1@h/x?k=sk-1"}'], `--extra-inputs '{"hook":"http://***@h/x?***"}'`],
])('without secrets: %j', async (argv, shown) => {
  // Targets of the metrics pages are parsed before, and refuse user info where they do not support it.
  const given = argv.includes('--url') ? ['--model', 'm', '--request-count', '5'] : PLAIN;
  const [command = ''] = await commands([...given, ...argv]);
  expect(command).toContain(shown);
  expect(command).not.toContain('sk-1');
});
