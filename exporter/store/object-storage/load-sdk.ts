import type * as Sdk from '@aws-sdk/client-s3';
import { StorageError } from '../../errors/storage-errors.ts';
import { reasonOf } from '../../errors/store-errors.ts';
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
