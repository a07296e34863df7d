import { spawn } from 'child_process';
import { createHash } from 'crypto';
import { unzipSync } from 'fflate';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'fs';
import { createServer } from 'https';
import { type AddressInfo } from 'net';
import { tmpdir } from 'os';
import { join } from 'path';
import { selfSignedCertificate, VALID } from '../../../exporter/load/testing/certificate.ts';

const ROOT = join(__dirname, '../../..');
const PLUGIN = 'llmbench-observability-app';
const MANIFEST = `${PLUGIN}/MANIFEST.txt`;
const folder = mkdtempSync(join(tmpdir(), 'llmbench-archive-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Packs `dist/` in a process of its own, as a release does. */
async function pack(env: Record<string, string>): Promise<{ files: Record<string, Uint8Array>; remark: string }> {
  const out = mkdtempSync(join(folder, 'out-'));
  const program = `import { pluginArchive } from ${JSON.stringify(`${ROOT}/scripts/release/plugin-archive.ts`)};
    const { remark } = pluginArchive({ root: ${JSON.stringify(ROOT)}, folder: ${JSON.stringify(out)}, date: new Date('2026-11-24T12:00:00Z') });
    process.stdout.write(remark);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { env: { ...process.env, ...env } });
  let [remark, errors] = ['', ''];
  child.stdout.on('data', (text) => (remark += text));
  child.stderr.on('data', (text) => (errors += text));
  const code = await new Promise((resolve) => child.once('close', resolve));
  expect({ code, errors: code === 0 ? '' : errors }).toEqual({ code: 0, errors: '' });
  const archive = readdirSync(out).find((name) => name.endsWith('.zip')) ?? '';
  return { files: unzipSync(readFileSync(join(out, archive))), remark };
}

test('an unsigned archive is one folder, and the release states how Grafana loads it', async () => {
  const { files, remark } = await pack({ GRAFANA_ACCESS_POLICY_TOKEN: '' });
  expect(Object.keys(files).filter((path) => !path.startsWith(`${PLUGIN}/`))).toEqual([]);
  expect(Object.keys(files)).not.toContain(MANIFEST);
  const { id, info } = JSON.parse(Buffer.from(files[`${PLUGIN}/plugin.json`] ?? []).toString());
  expect([id, info.updated]).toEqual([PLUGIN, '2026-11-24']);
  expect(remark).toContain(
    'GF_PLUGINS_ALLOW_LOADING_UNSIGNED_PLUGINS=llmbench-observability-app,llmbench-percentiles-panel,llmbench-runs-datasource'
  );
}, 120_000);

test('with a token, Grafana signs the checksums of all files, and the archive has its answer', async () => {
  const { cert, key } = selfSignedCertificate(VALID);
  const authority = join(folder, 'authority.pem');
  writeFileSync(authority, cert);
  let [body, authorization] = ['', ''];
  const server = createServer({ cert, key }, (message, response) => {
    authorization = message.headers.authorization ?? '';
    message.on('data', (piece) => (body += piece));
    message.on('end', () => response.end('the signed manifest'));
  });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  try {
    const { files, remark } = await pack({
      GRAFANA_ACCESS_POLICY_TOKEN: 'secret',
      GRAFANA_PLUGIN_ROOT_URLS: 'https://grafana.example.org/',
      GRAFANA_COM_URL: `https://localhost:${(server.address() as AddressInfo).port}/api`,
      NODE_EXTRA_CA_CERTS: authority,
    });
    expect([authorization, remark]).toEqual(['Bearer secret', 'The plugin is signed.']);
    expect(Buffer.from(files[MANIFEST] ?? []).toString()).toBe('the signed manifest');
    const manifest = JSON.parse(body);
    expect(manifest).toMatchObject({ plugin: PLUGIN, rootUrls: ['https://grafana.example.org/'] });
    const packed = Object.entries(files).filter(([path]) => path !== MANIFEST);
    const checksum = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
    expect(manifest.files).toEqual(
      Object.fromEntries(packed.map(([path, bytes]) => [path.slice(PLUGIN.length + 1), checksum(bytes)]))
    );
  } finally {
    server.close();
  }
}, 120_000);
