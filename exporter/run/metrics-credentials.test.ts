import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createServer as createHttpServer, request as httpRequest, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSimulator } from '../../simulator/main.ts';
import { requestedRuns } from '../cli/options/requested-runs.ts';
import { servedAlone } from '../http/testing/served-alone.ts';
import { RunControls } from '../load/phases/run-controls.ts';
import { selfSignedCertificate, VALID, type TestCertificate } from '../load/testing/certificate.ts';
import { performRun, type PerformedRun } from './perform-run.ts';

const TOKEN = 'token-of-the-page-4711';
const VARIABLE = 'METRICS_TOKEN_OF_THIS_TEST';
const cleanUp: (() => Promise<unknown>)[] = [];
let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'llmbench-credentials-'));
  process.env[VARIABLE] = TOKEN;
});
afterEach(async () => {
  for (const each of cleanUp.splice(0).reverse()) await each();
  await rm(folder, { recursive: true });
  delete process.env[VARIABLE];
});

/** What a page was sent, by header. */
type Sent = Readonly<Record<string, string | string[] | undefined>>;

/** A server that passes everything on to the simulator; a page requires what `admits` says, the API nothing. */
async function protectedServer(admits: (sent: Sent) => boolean, certificate?: TestCertificate, leadsTo?: string) {
  const simulator = await startSimulator({
    system: 'vllm',
    model: 'm',
    engine: { stepBaseMilliseconds: 2, decodeMillisecondsPerSequence: 0.01, prefillMillisecondsPerToken: 0.01 },
  });
  cleanUp.push(() => simulator.close());
  const pages: Sent[] = [];
  const answer: RequestListener = (request, response) => {
    if (request.url === '/metrics') {
      pages.push(request.headers);
      if (leadsTo !== undefined) return void response.writeHead(302, { location: leadsTo }).end();
      if (!admits(request.headers)) return void response.writeHead(401).end();
    }
    const { method = 'GET', headers } = request;
    const passedOn = httpRequest(`${simulator.url}${request.url}`, { method, headers, agent: false }, (upstream) => {
      response.writeHead(upstream.statusCode ?? 502, upstream.headers);
      upstream.pipe(response);
    });
    passedOn.on('error', () => response.destroy());
    request.pipe(passedOn);
  };
  const server = certificate === undefined ? createHttpServer(answer) : createHttpsServer(certificate, answer);
  await listening(server);
  const { port } = server.address() as AddressInfo;
  return { origin: `${certificate === undefined ? 'http' : 'https'}://localhost:${port}`, pages };
}

async function listening(server: Server & { closeAllConnections(): void }): Promise<void> {
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUp.push(() => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))));
}

async function run(url: string, argv: readonly string[]): Promise<{ performed: PerformedRun; lines: string[] }> {
  const plain = ['--url', url, '--model', 'm', '--runs-dir', join(folder, 'runs'), '--linger', 'no', '--isl', '5'];
  const { requests } = await requestedRuns([...plain, '--osl', '4', '--request-count', '2', ...argv], process.env);
  const lines: string[] = [];
  const host = {
    servePage: servedAlone,
    say: (line: string): unknown => lines.push(line),
    observe: () => ({ stop: () => undefined }),
  };
  const [request] = requests;
  if (request === undefined) throw new Error('no run');
  return { performed: await performRun(request, new RunControls(), host, '0.0.0'), lines };
}

const states = ({ result }: PerformedRun): readonly (string | undefined)[] =>
  (result.servers?.targets ?? []).map(({ state }) => state);

const bearer = ({ authorization }: Sent): boolean => authorization === `Bearer ${TOKEN}`;

/** Every file of the run, in one text. */
async function stored(path: string): Promise<string> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return (await Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'latin1')))).join(
    '\n',
  );
}

describe('credentials of metrics pages', () => {
  test('a bearer token and headers open the pages of the server and of named targets, and are stored nowhere', async () => {
    const tenant = 'tenant-0815';
    const [api, other] = [await protectedServer(bearer), await protectedServer((sent) => sent['x-tenant'] === tenant)];
    const { performed, lines } = await run(api.origin, [
      ...['--server-metrics', other.origin, '--server-metrics-bearer-env', VARIABLE],
      ...['--server-metrics-header', `X-Tenant: ${tenant}`],
    ]);
    expect(states(performed)).toEqual(['up', 'up']);
    expect([...api.pages, ...other.pages].every((sent) => bearer(sent) && sent['x-tenant'] === tenant)).toBe(true);
    const everything = [await stored(performed.path), JSON.stringify(performed), ...lines].join('\n');
    expect(everything).not.toContain(TOKEN);
    expect(everything).not.toContain(tenant);
  });

  test('without them, the page is refused and the line says what to set', async () => {
    const { origin } = await protectedServer(bearer);
    const { performed, lines } = await run(origin, []);
    expect(states(performed)).toEqual(['not_metrics']);
    expect(lines.join('\n')).toMatch(/HTTP 401.*--server-metrics-bearer-env or --server-metrics-header/);
  });

  test('one scrape that identifies the system has them too', async () => {
    const { origin, pages } = await protectedServer(bearer);
    const options = ['--no-server-metrics', '--server-metrics-bearer-env', VARIABLE];
    const { performed } = await run(origin, options);
    expect(JSON.parse(await readFile(join(performed.path, 'run.json'), 'utf8'))).toMatchObject({
      target: { system: 'vllm' },
    });
    expect(pages).toHaveLength(1);
  });

  test('a redirect does not take them to another host', async () => {
    const thief = await protectedServer(() => true);
    const { origin, pages } = await protectedServer(() => true, undefined, `${thief.origin}/metrics`);
    const { performed } = await run(origin, ['--server-metrics-bearer-env', VARIABLE]);
    expect(states(performed)).toEqual(['waiting']);
    expect(pages.length).toBeGreaterThan(0);
    expect(thief.pages).toEqual([]);
  });

  test('a page of a scenario file has its own, and not those of the others', async () => {
    const [api, other] = [await protectedServer(bearer), await protectedServer((sent) => sent['x-scope'] === 'a, b')];
    const config = join(folder, 'scenario.yaml');
    await writeFile(
      config,
      [
        `server-metrics-bearer-env: ${VARIABLE}`,
        'server-metrics:',
        `  - url: ${other.origin}`,
        "    header: ['X-Scope: a, b']",
        '',
      ].join('\n'),
    );
    const { performed } = await run(api.origin, ['--config', config]);
    expect(states(performed)).toEqual(['up', 'up']);
    expect(other.pages.some((sent) => sent['authorization'] !== undefined)).toBe(false);
    expect(api.pages.some((sent) => sent['x-scope'] !== undefined)).toBe(false);
  });

  test.each([
    [['--server-metrics-header', 'Accept: secret-1'], /^--server-metrics-header: accept is set by the HTTP client$/],
    [['--server-metrics-header', 'Content-Length: 1'], /content-length is set by the HTTP client/],
    [['--server-metrics-header', 'secret-1'], /^--server-metrics-header must be NAME: VALUE$/],
    [['--server-metrics-header', 'X: secret-1\nY: 2'], /--server-metrics-header 'X…' must be NAME: VALUE/],
    [
      ['--server-metrics-header', 'Authorization: secret-1', '--server-metrics-bearer-env', VARIABLE],
      /cannot be used together/,
    ],
    [
      ['--server-metrics-bearer-env', 'NOT_SET_IN_THIS_TEST'],
      /the environment variable NOT_SET_IN_THIS_TEST is not set/,
    ],
  ])('%j is refused before the first request, without the value', async (argv, message) => {
    const { origin, pages } = await protectedServer(bearer);
    const refusal = await run(origin, argv).then(
      () => 'not refused',
      (error: Error) => error.message,
    );
    expect(refusal).toMatch(message);
    expect(refusal).not.toContain('secret-1');
    expect(pages).toEqual([]);
  });
});

describe('certificates of metrics pages', () => {
  async function file(text: string): Promise<string> {
    const path = join(folder, 'ca.pem');
    await writeFile(path, text);
    return path;
  }

  test('--tls-ca is trusted for the API, its page and named pages', async () => {
    const certificate = selfSignedCertificate(VALID);
    const [api, other] = [
      await protectedServer(() => true, certificate),
      await protectedServer(() => true, certificate),
    ];
    const { performed } = await run(api.origin, [
      ...['--tls-ca', await file(certificate.cert), '--server-metrics', other.origin],
    ]);
    expect(states(performed)).toEqual(['up', 'up']);
  });

  test('--tls-insecure accepts any, and without it the failure names the remedy', async () => {
    const api = await protectedServer(() => true);
    const page = await protectedServer(() => true, selfSignedCertificate(VALID));
    const { performed } = await run(api.origin, ['--tls-insecure', '--server-metrics', page.origin]);
    expect(states(performed)).toEqual(['up', 'up']);
    const { performed: strict, lines } = await run(api.origin, ['--server-metrics', page.origin]);
    expect(states(strict)).toEqual(['up', 'waiting']);
    expect(lines.join('\n')).toMatch(/the certificate is not accepted \(DEPTH_ZERO_SELF_SIGNED_CERT\); --tls-ca/);
  });

  test('a page of a scenario file has its own authority', async () => {
    const certificate = selfSignedCertificate(VALID);
    const api = await protectedServer(() => true);
    const page = await protectedServer(() => true, certificate);
    const config = join(folder, 'scenario.yaml');
    await writeFile(config, `server-metrics:\n  - url: ${page.origin}\n    tls-ca: ${await file(certificate.cert)}\n`);
    const { performed } = await run(api.origin, ['--config', config]);
    expect(states(performed)).toEqual(['up', 'up']);
  });

  test('--tls-server-name is the name of the benchmarked host only', async () => {
    const named = selfSignedCertificate({ ...VALID, names: ['model.example'] });
    const api = await protectedServer(() => true, named);
    const { performed } = await run(api.origin, [
      ...['--tls-ca', await file(named.cert), '--tls-server-name', 'model.example'],
    ]);
    expect(states(performed)).toEqual(['up']);
  });
});
