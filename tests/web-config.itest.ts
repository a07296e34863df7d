import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Agent, request } from 'undici';
import { selfSignedCertificate, VALID, type TestCertificate } from '../exporter/load/testing/certificate.ts';
import { addRun } from '../exporter/store/changes/add-run.ts';
import { addedRun } from '../exporter/store/fixtures/added-run.ts';
import { openStore } from '../exporter/store/run-store.ts';
import { describeWithEachPrometheus } from '../prometheus/testing/describe-prometheus.ts';
import { startPrometheus } from '../prometheus/server.ts';
import { llmbench, start, type Started } from './llmbench.ts';

/** Of `test`, from Prometheus' guide to basic authentication. */
const HASH = '$2b$12$hNf2lSsxfm0.i4a.1kVpSOVyBCfIB51VRjgBUyv6kdnyTlgWj81Ay';
const TOKEN = 'a-token-of-some-length';
const WAIT_MS = 60_000;
const basic = (password: string): { authorization: string } => ({
  authorization: `Basic ${Buffer.from(`prometheus:${password}`).toString('base64')}`,
});

await describeWithEachPrometheus('a serve with TLS and users', (programs) => {
  let folder: string;
  let url: string;
  let serve: Started;
  let certificate: TestCertificate;
  let agent: Agent;

  const configFile = (): string => join(folder, 'web.yml');
  const configure = (more = ''): Promise<void> =>
    writeFile(
      configFile(),
      `tls_server_config: {cert_file: server.crt, key_file: server.key}\nbasic_auth_users: {prometheus: ${HASH}}\n${more}`,
    );
  const newCertificate = async (): Promise<TestCertificate> => {
    const made = selfSignedCertificate(VALID);
    await writeFile(join(folder, 'server.key'), made.key);
    await writeFile(join(folder, 'server.crt'), made.cert);
    return made;
  };
  const status = async (path: string, headers: Record<string, string> = {}): Promise<number> => {
    const { statusCode, body } = await request(`${url}${path}`, { headers, dispatcher: agent });
    await body.dump();
    return statusCode;
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'llmbench-web-'));
    await addRun((await openStore(join(folder, 'runs'))).store, addedRun('r1'));
    await writeFile(join(folder, 'token'), TOKEN, { mode: 0o600 });
    certificate = await newCertificate();
    await configure();
    const secured = [
      '--web-config-file',
      configFile(),
      '--api-token-file',
      join(folder, 'token'),
      '--api-token-always',
    ];
    serve = start(['serve', '--port', '0', '--runs-dir', join(folder, 'runs'), '--json', ...secured]);
    let output = '';
    serve.child.stdout?.on('data', (text: string) => (output += text));
    await serve.said('"url"');
    ({ url } = JSON.parse(output) as { url: string });
    agent = new Agent({ connect: { ca: certificate.cert, servername: 'localhost' } });
  });

  afterAll(async () => {
    await agent.close();
    serve.child.kill('SIGTERM');
    await serve.ended;
    await rm(folder, { recursive: true });
  });

  test('the file is one that Prometheus itself would take', async () => {
    await promisify(execFile)(programs.promtool, ['check', 'web-config', configFile()]);
  });

  test('a user, or the token of the API, is required for every path', async () => {
    expect(url).toMatch(/^https:/);
    for (const path of ['/', '/metrics', '/sd', '/-/healthy', '/api/v1/runs', '/nowhere']) {
      expect([path, await status(path)]).toEqual([path, 401]);
      expect([path, await status(path, basic('wrong'))]).toEqual([path, 401]);
      const expected = path === '/nowhere' ? 404 : 200;
      expect([path, await status(path, basic('test'))]).toEqual([path, expected]);
      expect([path, await status(path, { authorization: `Bearer ${TOKEN}` })]).toEqual([path, expected]);
    }
  });

  test('TLS 1.1 is refused', async () => {
    const { hostname: host, port } = new URL(url);
    // OpenSSL offers it at security level 0 only.
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    const failure = await new Promise<unknown>((resolve) => {
      const socket = connect({ host, port: Number(port), rejectUnauthorized: false, ...old }, () => {
        resolve(socket.getProtocol());
        socket.destroy();
      });
      socket.once('error', ({ message }) => resolve(message));
    });
    expect(failure).toMatch(/alert protocol version/);
  });

  test('plain HTTP gets no response', async () => {
    await expect(request(url.replace('https:', 'http:'))).rejects.toThrow();
  });

  test('a real Prometheus scrapes it', async () => {
    const config = {
      scrape_configs: [
        {
          job_name: 'llmbench',
          scrape_interval: '1s',
          scheme: 'https',
          basic_auth: { username: 'prometheus', password: 'test' },
          tls_config: { ca_file: join(folder, 'server.crt'), server_name: 'localhost' },
          static_configs: [{ targets: [new URL(url).host] }],
        },
      ],
    };
    await writeFile(join(folder, 'prometheus.yml'), JSON.stringify(config));
    const prometheus = await startPrometheus({
      programs,
      configFile: join(folder, 'prometheus.yml'),
      dataFolder: join(folder, 'prometheus'),
    });
    const value = async (query: string): Promise<string | undefined> => {
      const { body } = await request(`${prometheus.url}/api/v1/query?query=${query}`);
      const response = (await body.json()) as { data: { result: { value: [number, string] }[] } };
      return response.data.result[0]?.value[1];
    };
    try {
      for (const end = Date.now() + WAIT_MS; (await value('up')) !== '1' && Date.now() < end;) await sleep(200);
      expect(await value('up')).toBe('1');
      // The page is compressed in two parts: what changes with each scrape, and what is kept.
      expect(Number(await value('process_resident_memory_bytes%7Bjob="llmbench"%7D'))).toBeGreaterThan(10e6);
      expect(await value('llmbench_build_info')).toBe('1');
    } finally {
      // Its scrapes would count against the rate limit of the next test.
      await prometheus.stop();
    }
  });

  test('changes apply without a restart; a mistake is reported and what held before holds on', async () => {
    const presented = (): Promise<string> =>
      new Promise((resolve, reject) => {
        const { hostname: host, port } = new URL(url);
        const socket = connect({ host, port: Number(port), rejectUnauthorized: false }, () => {
          resolve(socket.getPeerX509Certificate()?.toString() ?? '');
          socket.destroy();
        });
        socket.once('error', reject);
      });
    expect(await presented()).toBe(certificate.cert);
    const renewed = await newCertificate();
    expect(await presented()).toBe(renewed.cert);
    await agent.close();
    agent = new Agent({ connect: { ca: renewed.cert, servername: 'localhost' } });

    await configure('rate_limit: {interval: 1h, burst: 1}');
    expect([await status('/sd', basic('test')), await status('/sd', basic('test'))]).toEqual([200, 429]);

    const reported = serve.said('rate_limit.interval must be a duration');
    await configure('rate_limit: {interval: often}');
    expect(await status('/sd', basic('test'))).toBe(429);
    await reported;

    await configure();
    expect(await status('/sd', basic('test'))).toBe(200);
  });
});

test('clients without a certificate of the authority are not let in', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'llmbench-web-'));
  const [server, client, stranger] = [VALID, VALID, VALID].map(selfSignedCertificate);
  const clientConfig = { client_auth_type: 'RequireAndVerifyClientCert', client_ca: client?.cert };
  await writeFile(
    join(folder, 'web.yml'),
    JSON.stringify({ tls_server_config: { cert: server?.cert, key: server?.key, ...clientConfig } }),
  );
  const runs = ['--runs-dir', join(folder, 'runs'), '--web-config-file', join(folder, 'web.yml')];
  const serve = start(['serve', '--port', '0', '--json', ...runs]);
  let output = '';
  serve.child.stdout?.on('data', (text: string) => (output += text));
  await serve.said('"url"');
  const { url } = JSON.parse(output) as { url: string };
  const get = async (own?: TestCertificate): Promise<number> => {
    const connectWith = { ca: server?.cert ?? '', servername: 'localhost', ...own };
    const dispatcher = new Agent({ connect: connectWith });
    try {
      const { statusCode, body } = await request(`${url}/metrics`, { dispatcher });
      await body.dump();
      return statusCode;
    } finally {
      await dispatcher.close();
    }
  };
  expect(await get(client)).toBe(200);
  await expect(get()).rejects.toThrow();
  await expect(get(stranger)).rejects.toThrow();
  serve.child.kill('SIGTERM');
  await serve.ended;
  await rm(folder, { recursive: true });
});

test('a file that is not valid ends the command with one line and exit code 2', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'llmbench-web-'));
  const file = join(folder, 'web.yml');
  await writeFile(file, 'tls_server_config: {cert_file: missing.crt, key_file: missing.key}\n');
  const { code, stdout, stderr } = await llmbench('serve', '--port', '0', '--web-config-file', file);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^[^\n]*--web-config-file: [^\n]*missing\.crt cannot be read: [^\n]*\n$/);
  await rm(folder, { recursive: true });
});
