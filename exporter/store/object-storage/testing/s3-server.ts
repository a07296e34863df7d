import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const STARTS_WITHIN_MS = 60_000;
const BUCKET = 'bench';
const KEYS = { AWS_ACCESS_KEY_ID: 'access-of-test', AWS_SECRET_ACCESS_KEY: 'secret-of-test', AWS_REGION: 'us-east-1' };

export interface S3Server {
  readonly url: string;
  readonly bucket: string;
  /** The folder in which the server keeps the objects of the bucket, as files of their names. */
  readonly folder: string;
  /** For processes that use it; also set in this one. */
  readonly env: Readonly<Record<string, string>>;
  /** A server of the same objects that allows no writes. */
  readOnly(): Promise<string>;
  stop(): Promise<void>;
}

/** A server on a free loopback port, with one bucket. */
export async function startS3(program: string): Promise<S3Server> {
  const root = await mkdtemp(join(tmpdir(), 'llmbench-s3-'));
  for (const folder of [`objects/${BUCKET}`, 'cache']) await mkdir(join(root, folder), { recursive: true });
  const children: ChildProcess[] = [];
  const launch = async (...options: string[]): Promise<string> => {
    const port = await freePort();
    const child = spawn(
      program,
      [...options, '--quiet', '--keep-alive', '--port', `127.0.0.1:${port}`, 'posix', join(root, 'objects')],
      {
        stdio: ['ignore', 'ignore', 'pipe'],
        env: { ...process.env, ROOT_ACCESS_KEY: KEYS.AWS_ACCESS_KEY_ID, ROOT_SECRET_KEY: KEYS.AWS_SECRET_ACCESS_KEY },
      },
    );
    children.push(child);
    await answering(`http://127.0.0.1:${port}`, child);
    return `http://127.0.0.1:${port}`;
  };
  const url = await launch();
  const env = { ...KEYS, LLMBENCH_CACHE_DIR: join(root, 'cache') };
  Object.assign(process.env, env);
  return {
    url,
    env: { ...env, AWS_ENDPOINT_URL_S3: url },
    bucket: BUCKET,
    folder: join(root, 'objects', BUCKET),
    readOnly: () => launch('--readonly'),
    stop: async () => {
      for (const child of children) {
        if (child.exitCode !== null || child.signalCode !== null) continue;
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
      await rm(root, { recursive: true });
    },
  };
}

async function answering(url: string, child: ChildProcess): Promise<void> {
  let said = '';
  child.stderr?.on('data', (piece: Buffer) => (said += piece.toString()));
  const giveUpAt = Date.now() + STARTS_WITHIN_MS;
  while (Date.now() < giveUpAt && child.exitCode === null) {
    if (
      await fetch(url).then(
        () => true,
        () => false,
      )
    )
      return;
    await pause(50);
  }
  throw new Error(`versitygw does not answer at ${url}: ${said}`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
