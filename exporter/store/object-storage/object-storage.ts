import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { Readable, Transform } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { open } from 'node:fs/promises';
import type {
  GetObjectCommandOutput,
  ListObjectsV2CommandOutput,
  PutObjectCommandInput,
  CompletedPart,
  CreateMultipartUploadCommandInput,
} from '@aws-sdk/client-s3';
import { StorageError } from '../../errors/expected-error.ts';
import { explainFailure, statusOf, ATTEMPTS, createClient, loadSdk, type S3Client, type S3Sdk } from './load-sdk.ts';
import { locationIn, storageUrl, type StorageAccess, type StorageLocation } from '../storage-location.ts';

/** Of parts and of files that are sent in parts; one request may hold at most 5 GiB. */
interface PartSizes {
  readonly partBytes: number;
  readonly inPartsAbove: number;
}

const MIB = 1024 * 1024;
const PART_SIZES: PartSizes = { partBytes: 64 * MIB, inPartsAbove: 256 * MIB };
/** By the protocol: https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html */
const MAX_PARTS = 10_000;

/** What is uploaded: bucket and key, and what the object has besides its content. */
type Destination = Pick<CreateMultipartUploadCommandInput, 'Bucket' | 'Key' | 'Metadata'>;

/**
 * Uploads a file part by part, one in memory at a time; the server compares each with its checksum. The object appears when
 * all of them are there. Throws the SDK's error; then the parts are removed, as far as the server can be reached.
 */
async function uploadParts(
  { client, sdk }: { readonly client: S3Client; readonly sdk: S3Sdk },
  destination: Destination,
  { path, size }: { readonly path: string; readonly size: number },
  { isNew, partBytes }: { readonly isNew: boolean; readonly partBytes: number },
): Promise<void> {
  const created = await client.send(
    new sdk.CreateMultipartUploadCommand({ ...destination, ChecksumAlgorithm: 'SHA256' }),
  );
  const upload = { Bucket: destination.Bucket, Key: destination.Key, UploadId: created.UploadId };
  try {
    const parts: CompletedPart[] = [];
    for await (const part of partsOf(path, Math.max(partBytes, Math.ceil(size / MAX_PARTS)))) {
      const PartNumber = parts.length + 1;
      const ChecksumSHA256 = createHash('sha256').update(part).digest('base64');
      const body = { Body: part, ContentLength: part.length, ChecksumSHA256 };
      const { ETag } = await client.send(new sdk.UploadPartCommand({ ...upload, PartNumber, ...body }));
      parts.push({ ETag, PartNumber, ChecksumSHA256 });
    }
    const whole = { ...upload, MultipartUpload: { Parts: parts }, ...(isNew ? { IfNoneMatch: '*' } : {}) };
    await client.send(new sdk.CompleteMultipartUploadCommand(whole));
  } catch (error) {
    // The first error is the one to report.
    await client.send(new sdk.AbortMultipartUploadCommand(upload)).catch(() => undefined);
    throw error;
  }
}

async function* partsOf(path: string, partBytes: number): AsyncGenerator<Buffer> {
  const file = await open(path);
  try {
    for (;;) {
      const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(partBytes), length: partBytes });
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

/** A file in object storage. */
interface UploadedFile {
  readonly size: number;
  /** Hex SHA-256 from when it was uploaded; null if another program uploaded it. */
  readonly sha256: string | null;
}

/** The condition of a write: that the object does not exist, or that it is the one with this entity tag. */
type WriteCondition = { readonly absent: true } | { readonly etag: string };

const SHA256 = 'sha256';
const PAUSE_MS = 100;

/** The objects of one location. Names are relative to it, with slashes. Every method throws a `StorageError`. */
export class ObjectStorage {
  readonly location: StorageLocation;
  readonly #sdk: S3Sdk;
  readonly #client: S3Client;

  private constructor(location: StorageLocation, sdk: S3Sdk, client: S3Client) {
    this.location = location;
    this.#sdk = sdk;
    this.#client = client;
  }

  static async open(location: StorageLocation, access: StorageAccess): Promise<ObjectStorage> {
    const sdk = await loadSdk();
    return new ObjectStorage(location, sdk, createClient(sdk, access));
  }

  /** Opens it for one operation, and closes its connections afterwards: they would keep the process alive. */
  static async use<T>(
    location: StorageLocation,
    access: StorageAccess,
    work: (storage: ObjectStorage) => Promise<T>,
  ): Promise<T> {
    const storage = await ObjectStorage.open(location, access);
    try {
      return await work(storage);
    } finally {
      storage.close();
    }
  }

  get url(): string {
    return storageUrl(this.location);
  }

  /** The objects of a folder of this location, over the same connections: closing this one closes both. */
  inside(...folders: readonly string[]): ObjectStorage {
    return new ObjectStorage(locationIn(this.location, ...folders), this.#sdk, this.#client);
  }

  /** Calls `listener` for each response that states the time of the server. */
  onDate(listener: DateListener): void {
    observeDates(this.#client, listener);
  }

  close(): void {
    this.#client.destroy();
  }

  /** Whether it can be read: one request. */
  async check(): Promise<void> {
    await this.#doing('read', '', async () => {
      const { ListObjectsV2Command } = this.#sdk;
      await this.#client.send(new ListObjectsV2Command({ ...this.#under(''), MaxKeys: 1 }));
    });
  }

  /** The names of the folders, without a slash. */
  async folders(): Promise<string[]> {
    const names: string[] = [];
    for await (const page of this.#pages('', '/')) names.push(...this.#foldersOf(page));
    return names;
  }

  /** Some of these names, in the order of the storage; `next` is for the following ones, null at the end. */
  async someFolders(token: string | null): Promise<{ readonly names: string[]; readonly next: string | null }> {
    const { ListObjectsV2Command } = this.#sdk;
    const input = { ...this.#under(''), Delimiter: '/', ...(token === null ? {} : { ContinuationToken: token }) };
    const page = await this.#doing('list', '', () => this.#client.send(new ListObjectsV2Command(input)));
    return { names: this.#foldersOf(page), next: (page.IsTruncated === true && page.NextContinuationToken) || null };
  }

  /** The objects in a folder and below it, with their entity tags. */
  async entityTags(folder: string): Promise<Map<string, string>> {
    const tags = new Map<string, string>();
    for await (const page of this.#pages(`${folder}/`))
      for (const { Key, ETag } of page.Contents ?? []) {
        if (Key !== undefined && ETag !== undefined) tags.set(Key.slice(this.location.prefix.length), ETag);
      }
    return tags;
  }

  /** Null if it does not exist. */
  async stat(name: string): Promise<UploadedFile | null> {
    return this.#doing('read', name, async () => {
      const { HeadObjectCommand } = this.#sdk;
      const found = await orNull(this.#client.send(new HeadObjectCommand(this.#at(name))));
      return found && { size: found.ContentLength ?? 0, sha256: found.Metadata?.[SHA256] ?? null };
    });
  }

  /** A text and its entity tag; null if it does not exist. */
  async readText(name: string, mostBytes: number): Promise<{ readonly text: string; readonly etag: string } | null> {
    const found = await this.readBytes(name, mostBytes);
    return found && { text: found.bytes.toString('utf8'), etag: found.etag };
  }

  /** An object and its entity tag; null if it does not exist. */
  async readBytes(name: string, mostBytes: number): Promise<{ readonly bytes: Buffer; readonly etag: string } | null> {
    return this.#doing('read', name, async () => {
      const found = await this.#get(name);
      if (found === null) return null;
      const chunks: Buffer[] = [];
      let size = 0;
      for await (const chunk of bodyOf(found)) {
        size += (chunk as Buffer).length;
        if (size > mostBytes)
          throw new StorageError('damaged', `${this.#urlOf(name)} is larger than ${mostBytes} bytes`);
        chunks.push(chunk as Buffer);
      }
      return { bytes: Buffer.concat(chunks), etag: found.ETag ?? '' };
    });
  }

  /**
   * Writes an object into a new file, and compares it with its checksum: `sha256`, or when that is null the one of its
   * upload. False if it does not exist.
   */
  async download(name: string, path: string, sha256: string | null): Promise<boolean> {
    return this.#doing('download', name, async () => {
      const found = await this.#get(name);
      if (found === null) return false;
      const expected = sha256 ?? found.Metadata?.[SHA256];
      const hash = createHash('sha256');
      const hashing = new Transform({
        transform: (chunk: Buffer, _encoding, done) => {
          hash.update(chunk);
          done(null, chunk);
        },
      });
      await pipeline(bodyOf(found), hashing, createWriteStream(path, { flags: 'wx', flush: true }));
      if (hash.digest('hex') === expected) return true;
      throw new StorageError('damaged', `${this.#urlOf(name)} differs from its checksum`);
    });
  }

  /**
   * Uploads a file of which size and checksum are known, which the server verifies; a large one in parts. False if `isNew`
   * and the object exists.
   */
  async upload(
    name: string,
    path: string,
    { size, sha256 }: UploadedFile & { readonly sha256: string },
    isNew: boolean,
    { partBytes, inPartsAbove }: PartSizes = PART_SIZES,
  ): Promise<boolean> {
    const destination = { ...this.#at(name), Metadata: { [SHA256]: sha256 } };
    if (size > inPartsAbove) {
      const access = { client: this.#client, sdk: this.#sdk };
      return this.#doing('upload', name, () =>
        written(() => uploadParts(access, destination, { path, size }, { isNew, partBytes }), false),
      );
    }
    return this.#doing('upload', name, () =>
      this.#put(() => ({
        ...destination,
        Body: createReadStream(path, { highWaterMark: 1 << 20 }),
        ContentLength: size,
        ChecksumSHA256: Buffer.from(sha256, 'hex').toString('base64'),
        ...(isNew ? { IfNoneMatch: '*' } : {}),
      })),
    );
  }

  /** Writes a text under a condition, null for none. False if that does not hold. */
  async writeText(name: string, text: string, condition: WriteCondition | null): Promise<boolean> {
    return this.write(name, Buffer.from(text, 'utf8'), condition);
  }

  /** Writes an object under a condition, null for none. False if that does not hold. */
  async write(name: string, body: Buffer, condition: WriteCondition | null): Promise<boolean> {
    const digest = createHash('sha256').update(body).digest();
    const input = (): PutObjectCommandInput => ({
      ...this.#at(name),
      Body: body,
      ContentLength: body.length,
      ChecksumSHA256: digest.toString('base64'),
      Metadata: { [SHA256]: digest.toString('hex') },
      ...conditionHeaders(condition),
    });
    return this.#doing('write', name, () => this.#put(input, condition !== null && 'etag' in condition));
  }

  async #put(input: () => PutObjectCommandInput, hasTag = false): Promise<boolean> {
    const { PutObjectCommand } = this.#sdk;
    return written(async () => {
      const parameters = input();
      try {
        await this.#client.send(new PutObjectCommand(parameters));
      } finally {
        if (parameters.Body instanceof Readable) parameters.Body.destroy();
      }
    }, hasTag);
  }

  async #get(name: string): Promise<GetObjectCommandOutput | null> {
    const { GetObjectCommand } = this.#sdk;
    return orNull(this.#client.send(new GetObjectCommand(this.#at(name))));
  }

  #foldersOf({ CommonPrefixes = [] }: ListObjectsV2CommandOutput): string[] {
    return CommonPrefixes.flatMap(({ Prefix }) => Prefix?.slice(this.location.prefix.length, -1) ?? []);
  }

  async *#pages(folder: string, delimiter?: string): AsyncGenerator<ListObjectsV2CommandOutput> {
    const { ListObjectsV2Command } = this.#sdk;
    let token: string | undefined;
    const tokens = new Set<string>();
    do {
      const input = { ...this.#under(folder), Delimiter: delimiter, ContinuationToken: token };
      const page = await this.#doing('list', folder, () => this.#client.send(new ListObjectsV2Command(input)));
      yield page;
      token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
      if (token !== undefined && tokens.has(token)) {
        throw new StorageError('other', `cannot list ${this.#urlOf(folder)}: the list never ends`);
      }
      if (token !== undefined) tokens.add(token);
    } while (token !== undefined);
  }

  async #doing<T>(what: string, name: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw explainFailure(what, this.#urlOf(name), error);
    }
  }

  #under(folder: string): { readonly Bucket: string; readonly Prefix: string } {
    return { Bucket: this.location.bucket, Prefix: this.location.prefix + folder };
  }

  #at(name: string): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.location.bucket, Key: this.location.prefix + name };
  }

  #urlOf(name: string): string {
    return name === '' ? this.url : `${this.url}/${name}`;
  }
}

/**
 * Sends a write again when it may succeed then: a body that was sent in part cannot be repeated by the SDK. False if its
 * condition does not hold; `hasTag`: it requires an object that may be missing.
 */
async function written(send: () => Promise<void>, hasTag: boolean): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    try {
      await send();
      return true;
    } catch (error) {
      const status = statusOf(error);
      if (status === 412 || (status === 404 && hasTag)) return false;
      if (attempt === ATTEMPTS || !mayPass(error)) throw error;
    }
    await pause(PAUSE_MS * 2 ** attempt * (0.5 + Math.random()));
  }
}

function conditionHeaders(condition: WriteCondition | null): Pick<PutObjectCommandInput, 'IfMatch' | 'IfNoneMatch'> {
  if (condition === null) return {};
  return 'etag' in condition ? { IfMatch: condition.etag } : { IfNoneMatch: '*' };
}

/** The response to a request for an object, null if there is none of that name. A missing bucket is an error. */
async function orNull<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    const isMissing = statusOf(error) === 404 && (error as { name?: string }).name !== 'NoSuchBucket';
    if (isMissing) return null;
    throw error;
  }
}

function bodyOf({ Body }: GetObjectCommandOutput): Readable {
  return Body as Readable;
}

/** Whether another attempt may succeed, as after a concurrent write whose outcome is open (409). */
const mayPass = (error: unknown): boolean =>
  statusOf(error) === 409 || explainFailure('', '', error).problem === 'unreachable';

/** Times in milliseconds of Unix time: the request and the response by this machine, the date by the server. */
type DateListener = (sent_ms: number, received_ms: number, date_ms: number) => void;

/** Passes the `Date` header of every response of a client to a listener. */
function observeDates(client: S3Client, listener: DateListener): void {
  client.middlewareStack.add(
    (next) => async (args) => {
      const sent_ms = Date.now();
      const result = await next(args);
      const date_ms = Date.parse(dateOf(result.response));
      if (!Number.isNaN(date_ms)) listener(sent_ms, Date.now(), date_ms);
      return result;
    },
    // Innermost: around one attempt, with the response as it came.
    { step: 'deserialize', priority: 'low', name: 'llmbench-response-dates' },
  );
}

function dateOf(response: unknown): string {
  const { headers } = response as { readonly headers?: Readonly<Record<string, string>> };
  return headers?.['date'] ?? '';
}
