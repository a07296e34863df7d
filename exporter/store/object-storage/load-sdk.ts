import type * as Sdk from '@aws-sdk/client-s3';
import { ownValue } from '../../../core/text/nearest-names.ts';
import { StorageError, reasonOf, type StorageProblem } from '../../errors/expected-error.ts';
import type { StorageAccess } from '../storage-location.ts';

export type S3Sdk = typeof Sdk;
export type S3Client = Sdk.S3Client;

const CONNECT_TIMEOUT_MS = 10_000;
/** Without a byte in either direction; a large file may take as long as it needs. */
const IDLE_TIMEOUT_MS = 60_000;
/** Of each request. */
export const ATTEMPTS = 4;
const REGION_OF_OTHER_SERVERS = 'us-east-1';

/** Failures are reported where they are handled. */
const SILENT = { debug: ignore, info: ignore, warn: ignore, error: ignore };

function ignore(): void {
  // Nothing of the SDK is written.
}

/** The SDK, which is an optional package of 20 MB. Throws a `StorageError`. */
export async function loadSdk(): Promise<S3Sdk> {
  try {
    return await import('@aws-sdk/client-s3');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw error;
    throw new StorageError(
      'unsupported',
      'runs in object storage need the package @aws-sdk/client-s3, which is not installed: npm install @aws-sdk/client-s3',
    );
  }
}

/**
 * A client with the credentials and the region of the SDK's usual places: environment, shared configuration files, the
 * roles of containers, pods and machines. Throws a `StorageError`.
 */
export function createClient(
  { S3Client: Client }: S3Sdk,
  { endpoint, addressing }: StorageAccess,
  environment: NodeJS.ProcessEnv = process.env,
): S3Client {
  const own = endpoint ?? environment['AWS_ENDPOINT_URL_S3'] ?? environment['AWS_ENDPOINT_URL'] ?? null;
  if (own !== null && !/^https?:$/.test(URL.parse(own)?.protocol ?? '')) {
    throw new StorageError(
      'other',
      `the endpoint of object storage is '${own.slice(0, 200)}' and must be a URL such as https://minio:9000`,
    );
  }
  const region =
    environment['AWS_REGION'] ??
    environment['AWS_DEFAULT_REGION'] ??
    (own === null ? undefined : REGION_OF_OTHER_SERVERS);
  try {
    return new Client({
      ...(own === null ? {} : { endpoint: own }),
      ...(region === undefined ? {} : { region }),
      forcePathStyle: addressing === 'auto' ? own !== null : addressing === 'path',
      maxAttempts: ATTEMPTS,
      logger: SILENT,
      // Servers other than Amazon's may not know the checksums that the SDK adds; ours is in every upload.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: { connectionTimeout: CONNECT_TIMEOUT_MS, socketTimeout: IDLE_TIMEOUT_MS },
    });
  } catch (error) {
    throw new StorageError('other', `object storage cannot be used: ${reasonOf(error)}`, { cause: error });
  }
}

/** A failure of the SDK: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html */
interface SdkFailure {
  readonly name?: string;
  readonly message?: string;
  readonly code?: string;
  readonly Code?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

const KNOWN: Readonly<Record<string, readonly [StorageProblem, string]>> = {
  CredentialsProviderError: [
    'refused',
    'no credentials were found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE',
  ],
  InvalidAccessKeyId: ['refused', 'the access key is not known there (InvalidAccessKeyId)'],
  SignatureDoesNotMatch: ['refused', 'the secret access key is wrong (SignatureDoesNotMatch)'],
  ExpiredToken: ['refused', 'the session token has expired (ExpiredToken)'],
  RequestTimeTooSkewed: ['refused', 'the clock of this machine is wrong (RequestTimeTooSkewed)'],
  AccessDenied: ['refused', 'permission denied (AccessDenied)'],
  MethodNotAllowed: ['refused', 'the bucket is read-only (MethodNotAllowed)'],
  NoSuchBucket: ['missing', 'the bucket does not exist (NoSuchBucket)'],
  PermanentRedirect: ['other', 'the bucket is in another region: set AWS_REGION (PermanentRedirect)'],
  AuthorizationHeaderMalformed: [
    'other',
    'the bucket is in another region: set AWS_REGION (AuthorizationHeaderMalformed)',
  ],
  NotImplemented: ['unsupported', 'the server does not support it (NotImplemented)'],
  BadDigest: ['damaged', 'the content differs from its checksum (BadDigest)'],
  XAmzContentChecksumMismatch: ['damaged', 'the content differs from its checksum (XAmzContentChecksumMismatch)'],
  EntityTooLarge: ['other', 'the file is larger than the server accepts in one part (EntityTooLarge)'],
  TimeoutError: ['unreachable', 'no answer in time'],
};

const UNREACHABLE = [
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'EPIPE',
];

/** One line: what was done, where, and why it failed. */
export function explainFailure(what: string, where: string, error: unknown): StorageError {
  if (error instanceof StorageError) return error;
  const failure = (typeof error === 'object' && error !== null ? error : {}) as SdkFailure;
  const [problem, reason] = meaningOf(failure) ?? (['other', textOf(failure, error)] as const);
  return new StorageError(problem, `cannot ${what} ${where}: ${reason}`, { cause: error });
}

function meaningOf(failure: SdkFailure): readonly [StorageProblem, string] | null {
  for (const name of [failure.name, failure.Code, failure.code]) {
    const known = name === undefined ? undefined : ownValue(KNOWN, name);
    if (known !== undefined) return known;
    if (name !== undefined && UNREACHABLE.includes(name))
      return ['unreachable', `the server cannot be reached (${name})`];
  }
  // The SDK may wrap an error of the system so that only its text is left.
  const code = /\b(E[A-Z_]{4,}|TimeoutError)\b|socket hang up/.exec(failure.message ?? '')?.[0];
  if (code !== undefined && (UNREACHABLE.includes(code) || code === 'TimeoutError' || code === 'socket hang up')) {
    return ['unreachable', `the server cannot be reached (${code})`];
  }
  const status = statusOf(failure);
  if (status !== null && mayPass(status)) return ['unreachable', textOf(failure, failure)];
  if (status === 401 || status === 403) return ['refused', `permission denied (HTTP ${status})`];
  return null;
}

/** Errors of the server, or too many requests, for which another attempt may succeed. */
const mayPass = (status: number): boolean => (status >= 500 ? status !== 501 : status === 429 || status === 408);

/** Null if there was no response. */
export const statusOf = (error: unknown): number | null =>
  (error as SdkFailure | null)?.$metadata?.httpStatusCode ?? null;

function textOf(failure: SdkFailure, error: unknown): string {
  const status = statusOf(failure);
  const text = reasonOf(error).split('\n')[0]?.slice(0, 200) ?? '';
  const named = failure.name === undefined || failure.name === 'Error' ? text : `${text} (${failure.name})`;
  return status === null ? named : `${named} (HTTP ${status})`;
}
