import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { zstdCompressSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { addRun } from '../changes/add-run.ts';
import { editRun } from '../changes/edit-run.ts';
import { addedRun } from '../fixtures/added-run.ts';
import { openStore, type RunStore } from '../run-store.ts';
import { verifyRun } from '../verify-run.ts';
import { downloadRun, readManifest } from './download-run.ts';
import { type MirrorStore, openMirror } from './mirror-store.ts';
import { ObjectStorage } from './object-storage.ts';
import { appendToSharedLog } from './shared-log.ts';
import { startProxy, type FaultyProxy } from './testing/faulty-proxy.ts';
import { describeWithS3 } from './testing/describe-with-s3.ts';
import { startS3, type S3Server } from './testing/s3-server.ts';
import { Mirroring } from './mirroring.ts';
import { packOf, readPack } from './run-packs.ts';
import { packUploaded, uploadRun } from './upload-run.ts';
import { until } from '../../../core/testing/until.ts';

jest.setTimeout(180_000);
const RUN = '20261121T190000Z-abcdefghij';
const FILES = ['checksums.sha256', 'records', 'result.json', 'run.json'];

describeWithS3('object storage', (program) => {
  let server: S3Server;
  let proxy: FaultyProxy;
  let directory: string;
  let store: RunStore;
  let storage: ObjectStorage;
  let opened: ObjectStorage[];
  let location = { bucket: 'bench', prefix: '' };
  let tests = 0;

  const open = async (endpoint: string, place = location): Promise<ObjectStorage> => {
    const one = await ObjectStorage.open(place, { endpoint, addressing: 'auto' });
    opened.push(one);
    return one;
  };
  const mirrored = async (mostBytes?: number, endpoint = proxy.url): Promise<MirrorStore> => {
    const mirror = await openMirror(location, { endpoint, addressing: 'auto' }, mostBytes);
    opened.push(mirror.storage);
    return mirror;
  };
  const stored = (name: string): string => join(server.folder, location.prefix, name);
  const pathOf = (name: string): string => `/bench/${location.prefix}${name}`;

  beforeAll(async () => {
    server = await startS3(program);
  });
  afterAll(() => server.stop());

  beforeEach(async () => {
    opened = [];
    location = { bucket: server.bucket, prefix: `team-${tests++}/` };
    proxy = await startProxy(server.url);
    storage = await open(proxy.url);
    directory = await mkdtemp(join(tmpdir(), 'llmbench-shared-'));
    ({ store } = await openStore(join(directory, 'runs')));
    await addRun(store, addedRun(RUN));
  });

  afterEach(async () => {
    for (const one of opened) one.close();
    proxy.close();
    await rm(directory, { recursive: true });
  });

  test('a run is uploaded as it is, with its manifest last, and downloaded again', async () => {
    expect(await uploadRun(storage, store, RUN)).toMatchObject({ state: 'uploaded' });
    const writes = proxy.passed.filter((line) => line.startsWith('PUT'));
    expect(writes.at(-1)).toBe(`PUT ${pathOf(`${RUN}/checksums.sha256`)}`);
    for (const name of ['run.json', 'result.json', 'records/0.parquet', 'checksums.sha256']) {
      expect(await readFile(stored(`${RUN}/${name}`))).toEqual(await readFile(join(store.pathOf(RUN), name)));
    }
    expect(await uploadRun(storage, store, RUN)).toEqual({ run_id: RUN, state: 'present', bytes: 0 });

    const { store: copy } = await openStore(join(directory, 'copy'));
    await copy.checkWritable();
    const manifest = await readManifest(storage, RUN);
    if (manifest === null) throw new Error('no manifest');
    expect(await downloadRun(storage, copy, RUN, manifest, () => true)).toBe(true);
    expect(await verifyRun(copy, RUN)).toMatchObject({ state: 'ok', files: 3 });
    expect(await downloadRun(storage, copy, RUN, manifest, () => true)).toBe(false);
    expect(await readdir(join(copy.directory, '.unfinished'))).toEqual([]);
  });

  test('an interrupted upload is invisible, and continued where it ended', async () => {
    proxy.fault = (method, path) => (method === 'PUT' && path.endsWith('/run.json') ? 'cut' : 'pass');
    await expect(uploadRun(storage, store, RUN)).rejects.toMatchObject({ problem: 'unreachable' });
    expect(await readManifest(storage, RUN)).toBeNull();
    const mirror = await mirrored();
    expect(await mirror.refresh()).toEqual({ added: 0, problems: [] });
    expect(await mirror.runIds()).toEqual([]);

    proxy.fault = () => 'pass';
    proxy.passed.length = 0;
    await editRun(store, RUN, (run) => ({ ...run, tags: ['tagged-in-between'] }));
    expect(await uploadRun(storage, store, RUN)).toMatchObject({ state: 'uploaded' });
    expect(proxy.passed.filter((line) => line.startsWith('PUT'))).toEqual([
      `PUT ${pathOf(`${RUN}/run.json`)}`,
      `PUT ${pathOf(`${RUN}/checksums.sha256`)}`,
    ]);
    expect(await mirror.refresh()).toMatchObject({ added: 1 });
    expect((await mirror.readRun(RUN)).tags).toEqual(['tagged-in-between']);
  });

  test('a large file is sent in parts, again when one is lost, and replaces nothing', async () => {
    const bytes = randomBytes(12_000_000);
    const path = join(directory, 'large');
    await writeFile(path, bytes);
    const file = { size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
    const sizes = { partBytes: 5 * 1024 * 1024, inPartsAbove: 6_000_000 };
    let parts = 0;
    proxy.fault = (method) => (method === 'PUT' && parts++ === 1 ? 'cut' : 'pass');
    expect(await storage.upload('large', path, file, true, sizes)).toBe(true);
    expect(parts).toBeGreaterThan(3);
    expect((await readFile(stored('large'))).equals(bytes)).toBe(true);
    expect(await storage.stat('large')).toEqual(file);
    expect(await storage.download('large', join(directory, 'back'), null)).toBe(true);

    await writeFile(path, bytes.subarray(1));
    const other = { size: bytes.length - 1, sha256: 'f'.repeat(64) };
    expect(await storage.upload('large', path, other, true, sizes)).toBe(false);
    expect(await storage.stat('large')).toEqual(file);
  });

  test('an answer that is lost does not end an upload', async () => {
    let lost = 0;
    proxy.fault = (method) => (method === 'PUT' && lost++ % 2 === 0 ? 'lose' : 'pass');
    expect(await uploadRun(storage, store, RUN)).toMatchObject({ run_id: RUN });
    expect(await readManifest(storage, RUN)).not.toBeNull();
  });

  test('concurrent uploads of a run agree, and another run of its name replaces nothing', async () => {
    const others = await Promise.all([open(server.url), open(server.url), open(server.url)]);
    await Promise.all(others.map((other) => uploadRun(other, store, RUN)));
    const { store: foreign } = await openStore(join(directory, 'foreign'));
    await addRun(foreign, addedRun(RUN, { model: 'another' } as never, 9));
    await expect(uploadRun(storage, foreign, RUN)).rejects.toThrow(/another run of the name/);
    expect(await readFile(stored(`${RUN}/records/0.parquet`))).toEqual(
      await readFile(join(store.pathOf(RUN), 'records/0.parquet')),
    );
  });

  test('tags that were changed after the upload are reported and stay as they were there', async () => {
    await uploadRun(storage, store, RUN);
    await editRun(store, RUN, (run) => ({ ...run, tags: ['late'] }));
    expect(await uploadRun(storage, store, RUN)).toMatchObject({ state: 'tagged' });
  });

  test('a slow server is waited for', async () => {
    proxy.fault = () => ({ delayMs: 400 });
    expect(await uploadRun(storage, store, RUN)).toMatchObject({ state: 'uploaded' });
  });

  test('a file that differs from its checksum is not sent, and not shown when it is there', async () => {
    await uploadRun(storage, store, RUN);
    const result = await readFile(stored(`${RUN}/result.json`), 'utf8');
    await writeFile(stored(`${RUN}/result.json`), result.replace('completed', 'compléted'));
    const manifest = await readManifest(storage, RUN);
    const { store: copy } = await openStore(join(directory, 'copy'));
    await copy.checkWritable();
    await expect(downloadRun(storage, copy, RUN, manifest ?? new Map(), () => true)).rejects.toMatchObject({
      problem: 'damaged',
    });
    expect(await copy.runIds()).toEqual([]);
    expect(await readdir(join(copy.directory, '.unfinished'))).toEqual([]);
    const mirror = await mirrored();
    const { added, problems } = await mirror.refresh();
    expect(added).toBe(0);
    expect(problems).toEqual([expect.stringMatching(/is not shown: .*result\.json differs from its checksum/)]);

    await addRun(store, addedRun('other'));
    await writeFile(join(store.pathOf('other'), 'records/0.parquet'), 'damaged');
    await expect(uploadRun(storage, store, 'other')).rejects.toThrow(/differs from its checksum/);
    expect(await storage.stat('other/records/0.parquet')).toBeNull();
  });

  test('the server refuses content that was changed on the way', async () => {
    const path = join(directory, 'file');
    await writeFile(path, 'content');
    const sums = { size: 7, sha256: '0'.repeat(64) };
    await expect(storage.upload('x', path, sums, true)).rejects.toMatchObject({ name: 'StorageError' });
    expect(await storage.stat('x')).toBeNull();
  });

  test('wrong credentials, a missing bucket and a server that is away are distinguished', async () => {
    const secret = process.env['AWS_SECRET_ACCESS_KEY'];
    process.env['AWS_SECRET_ACCESS_KEY'] = 'wrong';
    try {
      const denied = await open(server.url);
      await expect(denied.check()).rejects.toMatchObject({ problem: 'refused' });
      await expect(uploadRun(denied, store, RUN)).rejects.toMatchObject({ problem: 'refused' });
    } finally {
      process.env['AWS_SECRET_ACCESS_KEY'] = secret;
    }
    const elsewhere = await open(server.url, { bucket: 'missing', prefix: '' });
    await expect(elsewhere.check()).rejects.toMatchObject({ problem: 'missing' });
    const away = await open('http://127.0.0.1:1');
    await expect(away.check()).rejects.toMatchObject({
      problem: 'unreachable',
      message: expect.stringContaining('reached'),
    });
  });

  test('a read-only bucket can be read, and a write says why it is refused', async () => {
    await uploadRun(storage, store, RUN);
    const url = await server.readOnly();
    const mirror = await mirrored(undefined, url);
    expect(await mirror.refresh()).toMatchObject({ added: 1 });
    await addRun(store, addedRun('other'));
    await expect(uploadRun(await open(url), store, 'other')).rejects.toMatchObject({ problem: 'refused' });
    await expect(appendToSharedLog(mirror.storage, 'scenarios/x/baseline.jsonl', {})).rejects.toMatchObject({
      problem: 'refused',
    });
  });

  test('no line of concurrent writers is lost, and none is there twice', async () => {
    const name = 'scenarios/nightly/verdicts.jsonl';
    const writers = await Promise.all(Array.from({ length: 6 }, () => open(server.url)));
    const lines = writers.map(async (writer, w) => {
      for (let n = 0; n < 4; n++) await appendToSharedLog(writer, name, { w, n });
    });
    await Promise.all(lines);
    let lost = 0;
    proxy.fault = (method, path) => (method === 'PUT' && path.endsWith(name) && lost++ === 0 ? 'lose' : 'pass');
    await appendToSharedLog(storage, name, { w: 'last', n: 0 });
    const text = await readFile(stored(name), 'utf8');
    const found = text.trimEnd().split('\n');
    expect(found).toHaveLength(25);
    expect(new Set(found).size).toBe(25);
  });

  test.each(['If-None-Match', 'If-Match'])('a server that ignores %s holds no logs', async (ignored) => {
    const careless = createServer((request, response) => {
      request.resume();
      const isRefused = ignored === 'If-Match' && request.headers['if-none-match'] !== undefined;
      response.statusCode = isRefused ? 412 : 200;
      response.end();
    }).listen(0, '127.0.0.1');
    await once(careless, 'listening');
    const { port } = careless.address() as AddressInfo;
    const ignoring = await open(`http://127.0.0.1:${port}`);
    await expect(appendToSharedLog(ignoring, 'scenarios/x/baseline.jsonl', {})).rejects.toMatchObject({
      problem: 'unsupported',
      message: expect.stringContaining(`ignores ${ignored}`),
    });
    careless.closeAllConnections();
    careless.close();
  });

  const pushed = async (count: number): Promise<string[]> => {
    const names = Array.from({ length: count }, (_, i) => `run-${i}`);
    for (const runId of names) {
      await addRun(store, addedRun(runId));
      await uploadRun(storage, store, runId);
    }
    return names;
  };
  const followed = async (
    work: (mirror: MirrorStore, look: () => Promise<string[]>) => Promise<void>,
  ): Promise<void> => {
    const mirror = await mirrored();
    const mirroring = new Mirroring(mirror.storage, mirror);
    const following = mirroring.follow(50, () => undefined);
    // The requests of the next look, which ends with a list of logs or of folders.
    const look = async (): Promise<string[]> => {
      await pause(400);
      return proxy.passed.splice(0);
    };
    try {
      await work(mirror, look);
    } finally {
      following.stop();
      await rm(mirror.directory, { recursive: true });
    }
  };

  test('a cache takes many runs from the packs that uploads write, and only what equals its checksums', async () => {
    const names = await pushed(12);
    await packUploaded(storage, store, names);
    proxy.passed.length = 0;
    const mirror = await mirrored();
    expect(await mirror.refresh()).toEqual({ added: 12, problems: [] });
    expect(proxy.passed.filter((line) => line.endsWith('/run.json'))).toEqual([]);
    for (const name of names) {
      expect(await mirror.readRun(name)).toEqual(await store.readRun(name));
      expect(await mirror.readResult(name)).toEqual(await store.readResult(name));
    }
    expect(await verifyRun(mirror, 'run-3')).toMatchObject({ state: 'ok' });

    await rm(mirror.directory, { recursive: true });
    const name = packOf('run-3');
    const pack = await readPack(storage, name);
    const packed = pack?.runs.get('run-3');
    const changed = { ...packed, files: { ...packed?.files, 'run.json': '{}' } };
    const runs = Object.fromEntries<unknown>(new Map<string, unknown>(pack?.runs).set('run-3', changed));
    await storage.write(name, zstdCompressSync(JSON.stringify({ runs })), null);
    const again = await mirrored();
    expect(await again.refresh()).toEqual({ added: 12, problems: [] });
    expect(await again.readRun('run-3')).toEqual(await store.readRun('run-3'));
  });

  test('who follows packs what was uploaded without, and shows no run of a pack that was deleted', async () => {
    await pushed(12);
    await packUploaded(storage, store, [RUN]);
    await followed(async (mirror) => {
      await until(async () => (await mirror.runIds()).length === 12);
      await until(async () => {
        const packs = await Promise.all([...Array(12).keys()].map((i) => readPack(storage, packOf(`run-${i}`))));
        return packs.every((pack, i) => pack?.runs.has(`run-${i}`) === true);
      });
      expect(await mirror.runIds()).not.toContain(RUN);
    });
  });

  test('a look while nothing changes is two lists, and shows new and deleted runs', async () => {
    await pushed(6);
    await followed(async (mirror, look) => {
      await until(async () => (await mirror.runIds()).length === 6);
      const isList = (line: string): boolean => line === `GET /${location.bucket}/`;
      let requests: string[] = [];
      await until(async () => (requests = await look()).length > 0 && requests.every(isList));
      // A look begins 50 ms after the last one.
      expect(requests.length).toBeLessThanOrEqual(2 * (400 / 50 + 1));
      await addRun(store, addedRun('new-and-packed'));
      await uploadRun(storage, store, 'new-and-packed');
      await packUploaded(storage, store, ['new-and-packed']);
      await addRun(store, addedRun('new-by-itself'));
      await uploadRun(storage, store, 'new-by-itself');
      await rm(stored('run-2'), { recursive: true });
      await until(async () => {
        const names = new Set(await mirror.runIds());
        return names.has('new-and-packed') && names.has('new-by-itself') && !names.has('run-2');
      });
    });
  });

  test('a mirror has summaries, brings other files when they are read, and stays within its size', async () => {
    for (const runId of ['r1', 'r2', 'r3']) {
      await addRun(store, addedRun(runId));
      await uploadRun(storage, store, runId);
    }
    const mirror = await mirrored(1);
    expect(await mirror.refresh()).toMatchObject({ added: 3, problems: [] });
    expect(await readdir(mirror.pathOf('r1'))).toEqual(FILES.filter((name) => name !== 'records'));
    const read = async (runId: string): Promise<number> => {
      const records = [];
      for await (const record of mirror.readRecords(await mirror.readRun(runId))) records.push(record);
      return records.length;
    };
    expect(await Promise.all([read('r1'), read('r1')])).toEqual([5, 5]);
    expect(await readdir(mirror.pathOf('r1'))).toContain('records');
    expect(await read('r2')).toBe(5);
    // Only the run that was used last is larger than the size allows.
    expect(await readdir(join(mirror.pathOf('r1'), 'records'))).toEqual([]);
    expect(await read('r1')).toBe(5);
    await rm(stored('r3'), { recursive: true });
    await mirror.refresh();
    expect((await mirror.runIds()).sort()).toEqual(['r1', 'r2']);
    await expect(editRun(mirror, 'r1', (run) => run)).rejects.toThrow(/cannot be changed from here/);
  });
});
