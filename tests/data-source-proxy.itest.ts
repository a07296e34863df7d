import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Agent, request } from 'undici';
import { parse } from 'yaml';
import { selfSignedCertificate, VALID } from '../exporter/load/testing/certificate.ts';
import { addRun } from '../exporter/store/changes/add-run.ts';
import { addedRun } from '../exporter/store/fixtures/added-run.ts';
import { openStore } from '../exporter/store/run-store.ts';
import { start, type Started } from './llmbench.ts';

/** Of `test`, from Prometheus' guide to basic authentication. */
const HASH = '$2b$12$hNf2lSsxfm0.i4a.1kVpSOVyBCfIB51VRjgBUyv6kdnyTlgWj81Ay';

/** The settings of a data source that Grafana's proxy applies. */
interface DataSource {
  readonly url: string;
  readonly basicAuth: boolean;
  readonly basicAuthUser: string;
  readonly jsonData: { readonly tlsAuthWithCACert: boolean };
  readonly secureJsonData: { readonly basicAuthPassword: string; readonly tlsCACert: string };
}

let folder: string;
let serve: Started;
let settings: DataSource;
let agent: Agent;

/** The example of the guide, with the values of its variables. */
async function exampleSettings(url: string, password: string, ca: string): Promise<DataSource> {
  const guide = await readFile(new URL('../docs/guides/grafana.md', import.meta.url), 'utf8');
  const [, block = ''] = /```yaml\n(apiVersion: 1\ndatasources:\n[^`]*basicAuth: true[^`]*)```/.exec(guide) ?? [];
  const { datasources } = parse(block) as { datasources: DataSource[] };
  const [example] = datasources;
  if (example === undefined) throw new Error('the guide has no example of a data source with a user');
  expect(example.secureJsonData).toEqual({
    basicAuthPassword: '$LLMBENCH_PASSWORD',
    tlsCACert: '$__file{/etc/grafana/llmbench-ca.crt}',
  });
  return { ...example, url, secureJsonData: { basicAuthPassword: password, tlsCACert: ca } };
}

/**
 * A request of a browser as Grafana's data source proxy (pkg/api/pluginproxy) passes it on: without `Origin`, `Referer` and
 * cookies, to the data source's host, with its user.
 */
async function proxied(
  { url, basicAuthUser, secureJsonData: { basicAuthPassword } }: DataSource,
  path: string,
  { method = 'GET', body = null }: { method?: 'GET' | 'POST'; body?: string | null } = {},
): Promise<{ status: number; text: string }> {
  const response = await request(`${url}/${path}`, {
    ...{ method, body, dispatcher: agent },
    headers: {
      ...(body === null ? {} : { 'content-type': 'application/json' }),
      ...{ accept: 'application/json', 'accept-encoding': 'gzip', 'sec-fetch-site': 'same-origin' },
      ...{ 'user-agent': 'Grafana/12.4.0', 'x-forwarded-for': '192.0.2.7', 'x-grafana-org-id': '1' },
      authorization: `Basic ${btoa(`${basicAuthUser}:${basicAuthPassword}`)}`,
    },
  });
  return { status: response.statusCode, text: await response.body.text() };
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'llmbench-data-source-'));
  await addRun((await openStore(join(folder, 'runs'))).store, addedRun('r1'));
  const { cert, key } = selfSignedCertificate(VALID);
  await writeFile(join(folder, 'server.crt'), cert);
  await writeFile(join(folder, 'server.key'), key);
  await writeFile(
    join(folder, 'web.yml'),
    `tls_server_config: {cert_file: server.crt, key_file: server.key}\nbasic_auth_users: {grafana: ${HASH}}\n`,
  );
  await writeFile(join(folder, 'roles.yml'), 'users: {grafana: [read, write-baseline]}');
  serve = start([
    ...['serve', '--port', '0', '--json', '--runs-dir', join(folder, 'runs')],
    ...['--web-config-file', join(folder, 'web.yml'), '--roles-file', join(folder, 'roles.yml')],
  ]);
  let output = '';
  serve.child.stdout?.on('data', (text: string) => (output += text));
  await serve.said('"url"');
  const { url } = JSON.parse(output) as { url: string };
  settings = await exampleSettings(url, 'test', cert);
  agent = new Agent({ connect: { ca: settings.secureJsonData.tlsCACert, servername: 'localhost' } });
});

afterAll(async () => {
  await agent.close();
  serve.child.kill('SIGTERM');
  await serve.ended;
  await rm(folder, { recursive: true });
});

test('the settings of the guide reach a serve with TLS, users and roles', async () => {
  expect(settings).toMatchObject({ basicAuth: true, jsonData: { tlsAuthWithCACert: true } });
  const status = await proxied(settings, 'api/v1/status');
  expect([status.status, JSON.parse(status.text)]).toEqual([
    ...[200, expect.objectContaining({ roles: ['read', 'write-baseline'], allows_baseline_changes: true })],
  ]);
  expect((await proxied(settings, 'api/v1/runs')).text).toContain('"r1"');
});

test('an editor changes a baseline, and starts no run', async () => {
  const change = { action: 'accept', run_ids: ['r1'], reason: 'first', author: 'ana' };
  const runs = JSON.parse((await proxied(settings, 'api/v1/runs')).text) as { runs: { scenario: string }[] };
  const path = `api/v1/scenarios/${encodeURIComponent(runs.runs[0]?.scenario ?? '')}/baseline`;
  const accepted = await proxied(settings, path, { method: 'POST', body: JSON.stringify(change) });
  expect([accepted.status, JSON.parse(accepted.text)]).toEqual([200, expect.objectContaining({ accepted: ['r1'] })]);
  const started = await proxied(settings, 'api/v1/runs', { method: 'POST', body: '{"scenario":"nightly"}' });
  expect(started.status).toBe(403);
});

test('a wrong password and another authority show nothing', async () => {
  const wrong = { ...settings, secureJsonData: { ...settings.secureJsonData, basicAuthPassword: 'wrong' } };
  expect((await proxied(wrong, 'api/v1/runs')).status).toBe(401);
  const other = new Agent({ connect: { ca: selfSignedCertificate(VALID).cert, servername: 'localhost' } });
  await expect(request(`${settings.url}/api/v1/runs`, { dispatcher: other })).rejects.toThrow();
  await other.close();
});
